"""The site builds without a warning, and holds every page, name, command and figure."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import sphinx.util.inventory

import dproo
from dproo.cli.commands import cli

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
sys.path += [str(DOCS), str(DOCS / "extensions")]

import picture  # noqa: E402 - it is beside the pages
from command_pages import help_pages  # noqa: E402


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return a freshly built site; any warning is an error, a link to nowhere is a warning.

    It has no theme, which would take a quarter of the time; ``make docs`` builds it with its own.
    """
    folder = tmp_path_factory.mktemp("site")
    options = ["-qEW", "--keep-going", "-b", "html", "-d", str(folder / "trees")]
    options += ["-D", "html_theme=basic"]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, str(DOCS), str(folder / "html")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder / "html"


@pytest.mark.one_of(3)
def test_every_page_is_in_the_site(site):
    for page in DOCS.rglob("*.md"):
        if "_build" not in page.parts:
            assert (site / page.relative_to(DOCS).with_suffix(".html")).exists(), page


def test_every_public_name_is_documented(site):
    with (site / "objects.inv").open("rb") as file:
        inventory = sphinx.util.inventory.InventoryFile.loads(file.read(), uri="")
    documented = {name for domain in inventory.data.values() for name in domain}
    assert {f"dproo.{name}" for name in dproo.__all__ if name != "__version__"} <= documented


def test_no_first_line_of_a_property_is_cut_at_its_colon(site):
    """Napoleon reads what stands before a colon there as a type: write the line without one."""
    text = (site / "reference" / "python.html").read_text(encoding="utf-8")
    cut = re.findall(r">Type<span.*?<dd[^>]*><p>(.*?)</p>", text, re.DOTALL)
    assert not [re.sub("<[^>]*>", "", line) for line in cut]


def test_every_command_has_its_help_in_the_site(site):
    text = (site / "reference" / "command-line.html").read_text(encoding="utf-8")
    shown = re.findall(r"Usage: (dproo[a-z -]*)", text)
    assert set(shown) == {f"{name} " for name, _ in help_pages(cli, "dproo")}
    assert len(shown) > 10


def test_the_picture_is_drawn_from_the_law_it_shows():
    assert picture.PATH.read_text(encoding="utf-8") == picture.svg()
