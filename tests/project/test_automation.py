"""The files that other machines act on agree with the package and with each other."""

import re
import tomllib

import pytest
import yaml
from support.pages import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted(ROOT.glob(".github/workflows/*.yml"))
RECIPE = yaml.safe_load((ROOT / "release" / "conda" / "recipe.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_every_action_is_pinned_by_its_hash_and_says_its_version(workflow):
    text = workflow.read_text(encoding="utf-8")
    used = re.findall(r"uses: (\S+)(.*)", text)
    assert len(used) == text.count("uses:") > 0
    for action, comment in used:
        assert re.fullmatch(r"[\w/.-]+@[0-9a-f]{40}", action), action
        assert re.fullmatch(r" # v\d+(\.\d+)+", comment), action


def test_an_action_has_the_same_hash_everywhere():
    found = {
        pin
        for workflow in WORKFLOWS
        for pin in re.findall(r"uses: ([\w-]+/[\w-]+)\S*@(\S+)", workflow.read_text("utf-8"))
    }
    assert len(found) == len({action for action, _ in found})


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_job_may_do_only_what_it_names(workflow):
    done = yaml.safe_load(workflow.read_text(encoding="utf-8"))
    assert done["permissions"] == {}
    for job in done["jobs"].values():
        assert job["permissions"]
        assert job["timeout-minutes"] <= 60
        may_publish = "id-token" in job["permissions"] and workflow.stem == "release"
        assert may_publish == (job.get("environment") == "pypi")


def test_every_target_that_a_workflow_makes_exists():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for workflow in WORKFLOWS:
        for target in re.findall(r"run: make ([\w-]+)", workflow.read_text(encoding="utf-8")):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_recipe_needs_what_the_package_needs():
    conda = {"python-duckdb": "duckdb"}
    needed = [line.split() for line in RECIPE["requirements"]["run"]]
    named = {f"{conda.get(name, name)}{floor}" for name, floor in needed}
    assert named == {*PROJECT["dependencies"], f"python{PROJECT['requires-python']}"}
    assert RECIPE["about"]["summary"] == PROJECT["description"]
    assert RECIPE["context"]["version"] == __import__("dproo").__version__


def test_the_container_runs_as_nobody_in_particular():
    text = (ROOT / "release" / "Containerfile").read_text(encoding="utf-8")
    assert re.search(r"^USER [1-9]\d*$", text, re.MULTILINE)
    for line in re.findall(r"pip install.*", text):
        assert "--require-hashes" in line or "--no-deps" in line
