"""A private PostgreSQL, a local Spark, a browser, started once where needed, and a ledger.

The tests, and every process they start, know nothing of whoever runs them: neither a ledger
nor defaults nor the width of a terminal, nor which signals a background job or ``nohup`` ignores.
Nothing is held against a clock.
"""

from __future__ import annotations

import gc
import os
import random
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, core, settings
from support.draws import DICE, IN_FULL, SEED, dice_of, some

if TYPE_CHECKING:  # what a fixture needs is imported there: a mutant's test waits for every import
    from support.serving import Served

    from dproo.ledger import Ledger

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # other workers have the other cores

for name in ("COLUMNS", "DPROO_CONFIG", "DPROO_LEDGER", "DPROO_WITNESS"):
    os.environ.pop(name, None)

for end in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
    if signal.getsignal(end) is signal.SIG_IGN:
        is_interrupt = end is signal.SIGINT
        signal.signal(end, signal.default_int_handler if is_interrupt else signal.SIG_DFL)

gc.set_threshold(100_000, 50, 50)  # else a sixth of the time

settings.register_profile(
    "patient",
    deadline=None,
    max_examples=100 if IN_FULL else 30,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("patient")
core.global_force_seed = dice_of("hypothesis").getrandbits(64)


def pytest_report_header() -> str:
    """Say how to draw the same once more."""
    return f"draws: DPROO_SEED={SEED}"


TOGETHER = (
    *("spark", "postgresql", "test_page", "test_documentation", "test_web"),
    *("test_packaging", "test_site", "test_figures"),
)
"""Parts of names; the tests of each run in one worker, since they share what takes seconds.

What takes longest stands first, and begins first: nobody waits for it at the end.
"""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Start what tests share once, not once in each worker."""
    from xdist.scheduler import LoadScopeScheduling  # noqa: PLC0415

    class Together(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return next((part for part in TOGETHER if part in nodeid), nodeid)

    config.option.loadscopereorder = False  # by the number of tests, which says little
    return Together(config, log)


OF_OTHERS = {"browser", "mariadb", "spark"}
"""Programs of others: where one of them comes to grief on a busy machine, it gets a second try.

Everything of ours, the ledger under many hands above all, has to hold the first time.
"""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Draw some of the slowest tests, and put what runs together first, in its order."""
    marked: dict[int, list[pytest.Item]] = {}
    for item in items:
        mark = item.get_closest_marker("one_of")
        if mark and "COVERAGE_PROCESS_CONFIG" not in os.environ:
            marked.setdefault(mark.args[0], []).append(item)
    left = {item for group in marked.values() for item in group}
    left.difference_update(*(some(group, one_of=number) for number, group in marked.items()))
    config.hook.pytest_deselected(items=[item for item in items if item in left])
    items[:] = [item for item in items if item not in left]
    has_tries = config.pluginmanager.hasplugin("rerunfailures")  # not where a mutant is tested
    for item in items if has_tries else ():
        if OF_OTHERS & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.flaky(reruns=1))
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: [part in item.nodeid for part in TOGETHER], reverse=True)


def pytest_collection_finish() -> None:
    """Keep thousands of tests and their libraries out of every collection of garbage."""
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Let libraries find at the end that nothing is left of them."""
    gc.unfreeze()


@pytest.fixture(scope="session", autouse=True)
def _home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Give all tests an empty home for settings and data."""
    folder = str(tmp_path_factory.mktemp("home"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", folder)
        patch.setenv("XDG_DATA_HOME", folder)
        patch.setenv("XDG_STATE_HOME", folder)
        yield


@pytest.fixture(autouse=True)
def _dice(request: pytest.FixtureRequest) -> None:
    """Have every test draw the same in the same run, whatever ran before it."""
    DICE.setstate(dice_of(request.node.nodeid).getstate())
    random.seed(DICE.getrandbits(64))


@pytest.fixture(autouse=True)
def _signals() -> Iterator[None]:
    """See that no test changes what this process does when it is told to end."""
    ends = signal.SIGINT, signal.SIGTERM
    before = [signal.getsignal(end) for end in ends]
    yield
    assert [signal.getsignal(end) for end in ends] == before


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """Yield the URL of a database cluster in a folder of its own, reached by a local socket."""
    from support.databases import Server  # noqa: PLC0415

    started = Server()
    yield started.url
    started.remove()


@pytest.fixture(scope="session")
def mariadb() -> Iterator[str]:
    """Yield the URL of a server of MariaDB in a folder of its own."""
    from support.databases import MariaDB  # noqa: PLC0415 - not for every worker

    started = MariaDB()
    yield started.url
    started.remove()


@pytest.fixture
def server(postgresql: str) -> Iterator[Any]:
    """Yield a connection to the server with a schema of its own, dropped at the end."""
    import psycopg  # noqa: PLC0415

    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA ward; SET search_path = ward")
        connection.execute(
            "CREATE TABLE visits AS SELECT 'a'::text AS code FROM generate_series(1, 7)"
        )
        yield connection
        connection.execute("SET lock_timeout = '1min'")  # whoever still holds it has failed
        connection.execute("DROP SCHEMA ward CASCADE")


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """Yield a session of Spark in this machine's memory."""
    if shutil.which("java") is None:
        pytest.skip("Java is not installed (Debian package default-jre-headless).")
    from pyspark.sql import SparkSession  # noqa: PLC0415

    folder = tempfile.mkdtemp(prefix="dproo-spark-")
    interrupted = signal.getsignal(signal.SIGINT)
    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.sql.warehouse.dir", folder)
        .config("spark.local.dir", folder)
        .getOrCreate()
    )
    signal.signal(signal.SIGINT, interrupted)  # which Spark takes for itself
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A ledger with a budget of 1 for patients."""
    from dproo.ledger import Ledger  # noqa: PLC0415

    new = Ledger.create(tmp_path / "ledger.sqlite3")
    new.declare("patients", budget="1", neighbours="replace")
    return new


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Yield Debian's Chromium, cut off from every host but this machine."""
    chromium = shutil.which("chromium-headless-shell")  # which needs half of the time
    chromium = chromium or shutil.which("chromium")
    if chromium is None:
        pytest.skip("Chromium is not installed (Debian package chromium).")
    playing = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed.")

    arguments = ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
    if os.geteuid() == 0:
        arguments.append("--no-sandbox")
    with playing.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=arguments)
        yield started
        started.close()


@pytest.fixture(scope="module")
def admissions_page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Yield a page that serves invented admissions with a budget of 3."""
    from support.serving import admissions, served  # noqa: PLC0415

    folder, ledger = admissions(tmp_path_factory.mktemp("page"), budget="3")
    with served(folder, ledger) as page:
        yield page
