"""The house: imports point downwards, the core has no float, optional libraries stay outside."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dproo

SOURCE = Path(dproo.__file__).parent
CONTRIBUTING = Path(__file__).parent.parent / "CONTRIBUTING.md"

EXACT = [
    "exact.py",
    "randomness.py",
    "counts.py",
    "sampling.py",
    "splitting.py",
    "domination.py",
    "losses.py",
    "composition.py",
    "privacy.py",
    *(path.relative_to(SOURCE).as_posix() for path in (SOURCE / "mechanisms").glob("*.py")),
]
INSIDE_MECHANISMS = [
    "law",
    "letter_table",
    "adaptive_table",
    "conditions",
    "urn_conditions",
    "entry_conditions",
    "baselines",
    "allocation",
    "urn",
    "smoothing",
    "randomized_response",
    "data_specific",
    "envelope",
    "letter_specific",
    "adaptive",
    "balanced_table",
    "balanced_bounds",
    "balanced",
    "network",
    "network_choice",
    "row",
]


def imported_rooms(path):
    """Yield the rooms of this package that a module imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            package, _, rest = name.partition(".")
            if package == "dproo" and rest:
                yield rest.split(".")


def rooms_of_the_table():
    """Return the rooms in the order of CONTRIBUTING, from the ground up."""
    table = CONTRIBUTING.read_text(encoding="utf-8").partition("## The rooms")[2]
    names = (line.split("|")[1] for line in table.partition("\n## ")[0].splitlines() if "`" in line)
    return [room for line in names for room in re.findall(r"`(\w+)(?:\.py|/)`", line)]


def test_the_table_of_rooms_names_every_room_once():
    found = [path.stem for path in SOURCE.iterdir() if path.suffix in {"", ".py"}]
    rooms = [name for name in found if not name.startswith("__")]
    assert sorted(rooms_of_the_table()) == sorted(rooms)


def test_imports_point_downwards():
    order = rooms_of_the_table()
    for path in SOURCE.rglob("*.py"):
        room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if room != "__init__":
            below = {*order[: order.index(room) + 1]}
            assert {imported for imported, *_ in imported_rooms(path)} <= below, path


def test_imports_among_the_samplers_point_downwards():
    for name in INSIDE_MECHANISMS:
        for room, *inner in imported_rooms(SOURCE / "mechanisms" / f"{name}.py"):
            if room == "mechanisms":
                assert INSIDE_MECHANISMS.index(inner[0]) < INSIDE_MECHANISMS.index(name)


@pytest.mark.parametrize("module", EXACT)
def test_there_is_no_float_between_epsilon_and_the_draw(module):
    text = (SOURCE / module).read_text(encoding="utf-8")
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        is_literal = isinstance(node, ast.Constant) and isinstance(node.value, float)
        is_call = isinstance(node, ast.Name) and node.id == "float"
        is_float_math = (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id in {"math", "random", "np", "numpy"}
            and node.attr not in {"inf", "nextafter"}
        )
        if is_literal or is_call or is_float_math:
            line = lines[node.lineno - 1]
            is_allowed = "float-ok" in line or line.lstrip().startswith(
                ("Number =", "elif", "def ")
            )
            assert is_allowed, (module, line)


def test_importing_the_package_loads_no_heavy_library():
    heavy = "numpy", "scipy", "duckdb", "narwhals", "pandas", "matplotlib", "click", "opendp"
    heavy += "dp_accounting", "starlette", "uvicorn", "jinja2"
    code = f"from dproo import *; import sys; print([m for m in {heavy} if m in sys.modules])"
    assert output_of("-c", code).strip() == "[]"


def output_of(*arguments):
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_the_help_of_the_command_line_loads_no_other_room():
    """Nor does it import what reads the arguments of a command."""
    code = "import atexit, sys; sys.argv[1:] = ['--help']; from dproo.cli import main;"
    code += "loaded = lambda: sorted(m for m in sys.modules if 'dproo' in m or m == 'click');"
    code += "atexit.register(lambda: print(loaded())); main()"
    assert output_of("-c", code).splitlines()[-1] == "['dproo', 'dproo.cli']"


def test_a_public_name_is_not_taken_by_the_module_of_that_name():
    code = "import dproo, dproo.accuracy, dproo.comparison; print(callable(dproo.accuracy),"
    code += "set(dproo.__all__) <= set(dir(dproo)), hasattr(dproo, 'nothing'))"
    assert output_of("-c", code).strip() == "True True False"


def test_the_public_names_are_the_promised_ones():
    promised = {
        "audit",
        "mechanism",
        "certify",
        "sample",
        "plan",
        "limit",
        "accuracy",
        "epsilon_of",
        "alpha_of",
    }
    assert promised <= set(dproo.__all__)
    assert all(hasattr(dproo, name) for name in dproo.__all__)


def test_no_file_holds_two_ideas():
    for path in SOURCE.rglob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 300, path.name
