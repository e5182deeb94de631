"""The house: imports point downwards, the core has no float, optional libraries stay outside."""

import ast
import re
import subprocess
import sys
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import dproo

SOURCE = Path(dproo.__file__).parent
CONTRIBUTING = Path(__file__).parents[2] / "CONTRIBUTING.md"
PROOFS = CONTRIBUTING.parent / "docs" / "proofs"

EXACT = [
    *(path.relative_to(SOURCE).as_posix() for path in SOURCE.glob("core/*.py")),
    *(path.relative_to(SOURCE).as_posix() for path in SOURCE.glob("mechanisms/**/*.py")),
    *(f"analysis/{name}.py" for name in ("certificate", "composition")),
]


def imported(path):
    """Yield the parts of what a module imports of this package, its own name left out."""
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


def packages_table():
    section = CONTRIBUTING.read_text(encoding="utf-8").partition("## The packages")[2]
    return section.partition("\n## ")[0]


def packages_of_the_table():
    """Return the packages in the order of CONTRIBUTING, from the ground up."""
    return re.findall(r"^\| `(\w+)(?:\.py|/)` \|", packages_table(), flags=re.MULTILINE)


def test_the_table_names_every_package_once():
    found = [path.stem for path in SOURCE.iterdir() if path.suffix in {"", ".py"}]
    packages = [name for name in found if not name.startswith("__")]
    assert sorted(packages_of_the_table()) == sorted(packages)


def test_the_map_names_every_file_in_the_row_of_its_package():
    rows = re.findall(r"^\| `([a-z_/]+)/` (\|.*)$", packages_table(), re.MULTILINE)
    named = {
        (package, name)
        for package, row in rows
        for name in re.findall(r"`([a-z_]+\.(?:py|js|css))`", row)
    }
    folders = sorted((package for package, _ in rows), key=len, reverse=True)
    found = set()
    for path in SOURCE.glob("*/**/*.*"):
        if path.stem != "__init__" and path.suffix in {".py", ".js", ".css"}:
            inside = path.relative_to(SOURCE).as_posix()
            package = next(folder for folder in folders if inside.startswith(f"{folder}/"))
            found.add((package, path.name))
    assert named == found


def test_imports_point_downwards():
    order = packages_of_the_table()
    for path in SOURCE.rglob("*.py"):
        package = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if not package.startswith("__"):
            below = {*order[: order.index(package) + 1], "__version__"}
            assert {first for first, *_ in imported(path)} <= below, path


def test_no_two_modules_import_each_other():
    modules = {
        path.relative_to(SOURCE).with_suffix("").parts: path
        for path in SOURCE.rglob("*.py")
        if path.stem != "__init__"
    }
    needs = {
        name: {
            parts[:end]
            for parts in map(tuple, imported(path))
            for end in range(1, len(parts) + 1)
            if parts[:end] in modules
        }
        for name, path in modules.items()
    }
    tuple(TopologicalSorter(needs).static_order())  # raises where there is a circle


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
    light = [name for name in dproo.__all__ if name != "Model"]  # whose rows are drawn by NumPy
    code = f"from dproo import {', '.join(light)}; import sys"
    code += f"; print([m for m in {heavy} if m in sys.modules])"
    assert output_of("-c", code).strip() == "[]"


def output_of(*arguments):
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_the_help_of_the_command_line_loads_no_command():
    code = "import atexit, sys; sys.argv[1:] = ['--help']; from dproo.cli import main;"
    code += "loaded = lambda: [m for m in sys.modules if m.startswith(('dproo.', 'click'))];"
    code += "atexit.register(lambda: print(sorted(loaded()))); main()"
    assert output_of("-c", code).splitlines()[-1] == "['dproo.cli', 'dproo.cli.ending']"


def test_every_public_name_is_there_and_no_module_takes_its_place():
    code = "import dproo, dproo.study.accuracy, dproo.auditing.trials, dproo.analysis.limit;"
    code += "print(all(callable(getattr(dproo, n)) for n in ('accuracy', 'audit', 'limit')),"
    code += "set(dproo.__all__) <= set(dir(dproo)), hasattr(dproo, 'nothing'))"
    assert output_of("-c", code).strip() == "True True False"


def test_the_public_names_are_exactly_the_documented_ones():
    """Those of the reference page, which shows each of them once as ``dproo.name``."""
    text = (CONTRIBUTING.parent / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\bdproo\.(\w+)", text))
    assert set(dproo.__all__) - {"__version__"} <= named
    assert all(hasattr(dproo, name) for name in dproo.__all__)


NAMED = re.compile("((?:`\\w+`(?:, | and )?)+) in `(src/[\\w/]+[.]py)`")


def test_the_proofs_name_code_that_is_there():
    pages = [page.read_text(encoding="utf-8") for page in PROOFS.glob("*.md")]
    named = [found for page in pages for found in NAMED.findall(page)]
    assert len(named) > 10
    for names, path in named:
        code = (PROOFS.parents[1] / path).read_text(encoding="utf-8")
        for name in re.findall("`(\\w+)`", names):
            assert re.search(rf"^\s*(def|class) {name}\b", code, flags=re.MULTILINE), name


def test_no_two_classes_have_one_name():
    found = Counter(
        node.name
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, times in found.items() if times > 1] == []


def test_no_folder_has_more_than_14_files():
    folders = Counter(path.parent for path in SOURCE.rglob("*.py") if path.stem != "__init__")
    assert [folder.name for folder, files in folders.items() if files > 14] == []


def test_no_file_is_longer_than_700_lines():
    for path in SOURCE.rglob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 700, path.name


def test_no_file_holds_both_sides_of_a_merge():
    suffixes = {".md", ".py", ".js", ".css", ".html", ".toml", ".sql"}
    folders = ("docs", "src", "tests", "proofs", "benchmarks", "release")
    files = (path for folder in folders for path in (CONTRIBUTING.parent / folder).rglob("*"))
    marked = [
        path.name
        for path in (*CONTRIBUTING.parent.glob("*.*"), *files)
        if path.suffix in suffixes
        and re.search(r"^(<{7}|>{7}) ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    ]
    assert marked == []
