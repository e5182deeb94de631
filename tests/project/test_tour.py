"""The notebook: every cell runs, top to bottom, and it holds no output."""

import ast
import json

import pytest
from support.pages import ROOT

NOTEBOOK = json.loads((ROOT / "examples" / "tour.ipynb").read_text(encoding="utf-8"))
CODE = [cell for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]


@pytest.mark.one_of(3)
def test_the_notebook_runs_from_top_to_bottom(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT / "examples")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    names, shown = {}, []
    for cell in CODE:
        tree = ast.parse("".join(cell["source"]))
        if isinstance(tree.body[-1], ast.Expr):  # which a notebook shows
            last = ast.Expression(tree.body.pop().value)
            exec(compile(tree, "notebook", "exec"), names)  # noqa: S102 - our own
            shown.append(eval(compile(last, "notebook", "eval"), names))  # noqa: S307 - our own
        else:
            exec(compile(tree, "notebook", "exec"), names)  # noqa: S102 - our own
    assert [one for one in shown if isinstance(one, tuple)] == [(True, True, False), (5, 9)]


@pytest.mark.parametrize("cell", NOTEBOOK["cells"], ids=lambda cell: cell["id"])
def test_a_cell_is_written_as_the_format_demands_and_holds_no_output(cell):
    assert (NOTEBOOK["nbformat"], NOTEBOOK["nbformat_minor"]) == (4, 5)
    needed = {"cell_type", "id", "metadata", "source"}
    if cell["cell_type"] == "code":
        needed |= {"execution_count", "outputs"}
        assert (cell["execution_count"], cell["outputs"]) == (None, [])
    assert set(cell) == needed
