# `make demo` and `make test` set up all they need.
.PHONY: demo test tests quick system lint bench docs note proofs soak coverage requirements \
	release-check test-lowest

PYTHON ?= python3
BIN := .venv/bin

demo: .venv/ready
	$(BIN)/dproo demo

test: .venv/ready-dev system
	@$(MAKE) --no-print-directory -j 2 lint tests

# Three workers keep two cores busy, since some tests wait for others; more slow each other down.
tests: .venv/ready-dev system
	$(BIN)/python -m compileall -q src tests/support
	PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n 3

# Under two minutes: lint, types, and the exact core with its samplers and certificates.
quick: lint
	$(BIN)/pytest -n 2 tests/core tests/schema tests/mechanisms tests/project/test_structure.py

lint: .venv/ready-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench: .venv/ready-dev
	$(BIN)/python benchmarks/ratios.py
	$(BIN)/python benchmarks/ledger.py
	$(BIN)/python benchmarks/growth.py
	$(BIN)/python benchmarks/accuracy.py
	$(BIN)/python benchmarks/held_out.py
	$(BIN)/python benchmarks/worst_case.py
	$(BIN)/python benchmarks/fixed_tables.py
	$(BIN)/python benchmarks/rows.py
	$(BIN)/python benchmarks/people.py
	$(BIN)/python benchmarks/audit.py
	$(BIN)/python benchmarks/page.py
	$(BIN)/python benchmarks/plan.py

soak: .venv/ready-dev system
	DPROO_SOAK=1 $(BIN)/pytest -n 3

# Branch coverage: of the exact core, which must be complete, and of the whole package. Tests that
# are marked as untraced are left out; pyproject.toml says why.
CORE := src/dproo/core/*.py,src/dproo/analysis/certificate.py,src/dproo/mechanisms/*.py

coverage: .venv/ready-dev system
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -n 3 -m 'not untraced'
	$(BIN)/coverage combine -q
	$(BIN)/coverage report --include='$(CORE)' --fail-under=100
	$(BIN)/coverage report --fail-under=95

# Every figure is drawn from exact numbers, or from a seed, and is the same each time; the pictures
# of the page are not, since they show a release.
docs: .venv/ready-dev system
	$(BIN)/python docs/screenshots.py
	$(BIN)/python docs/picture.py
	$(BIN)/dproo figures --out docs/_build/figures >/dev/null
	cp docs/_build/figures/*.svg docs/images/
	$(BIN)/sphinx-build -qEW --keep-going -b html docs docs/_build/html
	$(BIN)/pytest tests/project/test_documentation.py tests/project/test_site.py
	@echo "The site is docs/_build/html/index.html."

# The paper of the samplers and limits, from docs/note/note.typ and the results of the benchmarks.
note: .venv/ready-dev
	$(BIN)/python docs/note/build.py

# The proofs that a machine checks, from scratch; Coq is taken from Debian where that is allowed.
proofs:
	@if command -v coqc >/dev/null && [ -d "$$(coqc -where)/user-contrib/mathcomp/zify" ]; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq; \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
			coq libcoq-mathcomp-algebra libcoq-mathcomp-zify >/dev/null; \
	else echo "Coq is missing; install coq, libcoq-mathcomp-algebra and" \
		"libcoq-mathcomp-zify."; exit 1; fi
	$(PYTHON) proofs/check_proofs.py

# Builds what would be published, and uses it where nothing else is: about five minutes.
release-check: .venv/ready-dev .venv/ready-release
	$(BIN)/python release/check.py

# All tests but those of the repository itself, with the oldest versions that pyproject.toml allows.
test-lowest: .venv/ready-lowest system
	.venv/lowest/bin/python -m pytest -n 3 -p no:cacheprovider -W default tests \
		--ignore=tests/project

# Every file that is fetched must have the hash that the requirements name, also what builds the
# package: that comes from the environment itself.
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check
LOCKED := $(INSTALL) --require-hashes

.venv/ready: requirements.txt requirements-build.txt pyproject.toml
	$(PYTHON) -m venv .venv
	$(LOCKED) -r requirements.txt -r requirements-build.txt
	$(INSTALL) --no-deps --no-build-isolation -e .
	touch $@

.venv/ready-dev: .venv/ready requirements-dev.txt
	$(LOCKED) --no-compile -r requirements-dev.txt
	$(BIN)/python -m compileall -q -j 0 .venv/lib >/dev/null || true # pip uses one core only
	touch $@

# The tools of a release are in an environment of their own.
.venv/ready-release: requirements-release.txt | .venv/ready
	$(PYTHON) -m venv .venv/release
	.venv/release/bin/pip install --quiet --disable-pip-version-check --require-hashes \
		-r requirements-release.txt
	touch $@

.venv/ready-lowest: requirements-lowest.txt requirements-build.txt | .venv/ready
	$(PYTHON) -m venv .venv/lowest
	.venv/lowest/bin/pip install --quiet --disable-pip-version-check --require-hashes \
		-r requirements-lowest.txt -r requirements-build.txt
	.venv/lowest/bin/pip install --quiet --no-deps --no-build-isolation -e .
	touch $@

# The programs that some tests need: PostgreSQL, MariaDB, Java for Spark, and Chromium with the
# library that Playwright's driver is linked to. They are taken from Debian where that is allowed;
# where it is not, those tests are skipped.
PROGRAMS := postgresql mariadb-server-core mariadb-client-core default-jre-headless \
	chromium chromium-headless-shell libatomic1 fonts-dejavu-core

system: .venv/ready-system

.venv/ready-system: Makefile | .venv/ready
	@if dpkg-query -W -f '$${Status}\n' $(PROGRAMS) 2>/dev/null | grep -c ' installed$$' \
		| grep -qx $(words $(PROGRAMS)); then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing the programs that some tests need: $(PROGRAMS)."; \
		apt-get update -qq; \
		for package in $(PROGRAMS); do \
			DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
				$$package >/dev/null || true; \
		done; \
	else echo "Some tests will be skipped unless these are installed: $(PROGRAMS)."; fi
	@touch $@

# Compiled anew after a change of dependencies; the files name versions and hashes, nothing else.
COMPILE := $(BIN)/uv pip compile -q --universal --generate-hashes --no-header --no-annotate

requirements: .venv/ready-dev
	$(BIN)/pip install --quiet uv
	$(COMPILE) pyproject.toml -o requirements.txt
	$(COMPILE) --group build -o requirements-build.txt
	$(COMPILE) pyproject.toml --group dev -o requirements-dev.txt
	$(COMPILE) --group release -o requirements-release.txt
	$(COMPILE) pyproject.toml --extra web -o requirements-web.txt
	$(COMPILE) --resolution lowest-direct --python-version 3.11 pyproject.toml --group lowest \
		--all-extras -o requirements-lowest.txt
