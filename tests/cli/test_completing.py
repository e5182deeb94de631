"""What a shell offers when Tab is pressed."""

import duckdb
import pytest
from click.shell_completion import ShellComplete
from support.commands import dproo

from dproo.cli.commands import cli


def offered(*words, incomplete=""):
    found = ShellComplete(cli, {}, "dproo", "_DPROO_COMPLETE").get_completions(
        list(words), incomplete
    )
    return [(item.type, item.value) for item in found]


def names(*words, incomplete=""):
    return [value for _, value in offered(*words, incomplete=incomplete)]


def test_files_are_offered_where_files_are_named():
    for words in (["sample"], ["sample", "x.csv", "--alphabet"], ["sample", "x", "--codebook"]):
        assert offered(*words, incomplete="ex") == [("file", "ex")]
    assert offered("ledger", "init", incomplete="a") == [("file", "a")]
    assert offered("ledger", "show", "--ledger", incomplete="l") == [("file", "l")]


def test_samplers_and_relations_are_offered():
    assert names("sample", "x.csv", "--sampler", incomplete="a") == ["auto"]
    assert names("certify", "--sampler", incomplete="bal") == ["bal-roo"]
    assert names("sample", "x.csv", "--neighbours") == ["replace", "add-remove"]


@pytest.mark.parametrize("option", ["--column", "--by"])
def test_the_columns_of_the_header_are_offered(option, tmp_path):
    table = tmp_path / "visits.csv"
    table.write_text('\ufeffday,diagnosis,"dia, log"\nMonday,SECRET,x\n', encoding="utf-8")
    assert names("sample", str(table), option, incomplete="dia") == ["diagnosis", "dia, log"]
    assert len(names("sample", str(table), option)) == 3
    tabs = tmp_path / "visits.tsv"
    tabs.write_text("a\tb\n")
    assert names("sample", str(tabs), option) == ["a", "b"]


def test_the_columns_of_a_parquet_file_are_offered(tmp_path):
    path = tmp_path / "visits.parquet"
    duckdb.sql("SELECT 1 AS day, 'flu' AS diagnosis").write_parquet(str(path))
    assert names("sample", str(path), "--column") == ["day", "diagnosis"]


def test_nothing_is_offered_where_nothing_can_be_told(tmp_path):
    (tmp_path / "x.csv").write_bytes(b"\xff\xfe\x00")
    for data in ("nowhere.csv", "postgresql://host/db", str(tmp_path), str(tmp_path / "x.csv")):
        assert names("sample", data, "--column") == []
    assert names("sample", "--column") == []


def test_a_shell_gets_its_completion(monkeypatch):
    monkeypatch.setenv("_DPROO_COMPLETE", "bash_source")
    assert "COMPREPLY" in dproo().stdout


@pytest.mark.parametrize(
    "words",
    [
        "--no-header --column",
        "--column x --no-header",
        "--codebook book.json --column",
        "--skip-rows=1 --by",
        "--config mine.toml --column",
    ],
)
def test_a_record_is_not_offered_as_a_column(words, tmp_path, monkeypatch):
    table = tmp_path / "visits.csv"
    table.write_text("SECRET,7\n")
    monkeypatch.setenv("COMP_WORDS", f"dproo sample {table} {words} ")
    assert names("sample", str(table), "--column") == []


def test_a_record_is_not_offered_in_fish_which_does_not_tell_the_whole_command(
    tmp_path, monkeypatch
):
    table = tmp_path / "visits.csv"
    table.write_text("SECRET,7\n")
    monkeypatch.setenv("_DPROO_COMPLETE", "fish_complete")
    monkeypatch.setenv("COMP_WORDS", f"dproo sample {table} --column ")
    assert names("sample", str(table), "--column") == []


def test_a_record_is_not_offered_where_the_defaults_state_that_there_is_no_header(
    tmp_path, monkeypatch
):
    table, config = tmp_path / "visits.csv", tmp_path / "dproo.toml"
    table.write_text("SECRET,7\n")
    config.write_text("[sample]\nhas_header = false\n")
    monkeypatch.setenv("DPROO_CONFIG", str(config))
    assert names("sample", str(table), "--column") == []


def test_a_name_that_a_shell_would_run_is_not_offered(tmp_path):
    table = tmp_path / "visits.csv"
    table.write_text("$(reboot),`x`,ward\n")
    assert names("sample", str(table), "--column") == ["ward"]
