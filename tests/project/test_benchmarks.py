"""The benchmarks are not run here, but what they take from the package must be there."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = [*ROOT.glob("benchmarks/*.py"), *ROOT.glob("docs/*.py"), *ROOT.glob("docs/*/*.py")]


def taken_from_the_package(tree: ast.Module) -> dict[str, object]:
    """Return what a script imports of the package, by the names it uses."""
    found: dict[str, object] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "dproo":
            module = importlib.import_module(str(node.module))
            for alias in node.names:
                part = f"{node.module}.{alias.name}"
                if not hasattr(module, alias.name):
                    importlib.import_module(part)
                found[alias.asname or alias.name] = getattr(module, alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "dproo":
                    importlib.import_module(alias.name)
                    found["dproo"] = importlib.import_module("dproo")
    return found


def used(node: ast.expr, known: dict[str, object]) -> object:
    """Return what an expression of names and dots means, if it begins in the package."""
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.Attribute):
        whole = used(node.value, known)
        if isinstance(whole, ModuleType) and whole.__name__.split(".")[0] == "dproo":
            return getattr(whole, node.attr)
    return None


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_what_a_script_uses_of_the_package_is_there(script: Path) -> None:
    tree = ast.parse(script.read_text(encoding="utf-8"))
    known = taken_from_the_package(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            used(node, known)
