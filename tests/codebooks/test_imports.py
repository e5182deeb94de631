"""Imports: what people have becomes a draft; nothing of the data is taken over."""

import json

import openpyxl
import pandas as pd
import pyreadstat
import pytest

from dproo import CodeBook, draft_codebook, import_codebook

CANARY = 4711.0


def fields_of(draft):
    assert draft["draft"]
    return {field["name"]: field for field in draft["schema"]["fields"]}


def completed(draft):
    return CodeBook.of({key: value for key, value in draft.items() if key != "draft"})


def test_a_lookup_table_of_one_column(tmp_path):
    (tmp_path / "sex.csv").write_text("code;label\n1;female\n2;male\n", encoding="utf-8-sig")
    draft = import_codebook(tmp_path / "sex.csv", column="sex")
    assert fields_of(draft)["sex"]["categories"] == [
        {"value": 1, "label": "female"},
        {"value": 2, "label": "male"},
    ]
    assert completed(draft).sizes == (3,)
    (tmp_path / "icd.csv").write_text("icd\n001\nA01\n", encoding="utf-8")
    field = fields_of(import_codebook(tmp_path / "icd.csv"))["icd"]
    assert (field["type"], field["categories"]) == ("string", [{"value": "001"}, {"value": "A01"}])


def test_a_lookup_table_of_several_columns(tmp_path):
    rows = "variable,value,label\nsex,f,female\nsex,m,male\nward,1,\nward,2,\n"
    (tmp_path / "codes.csv").write_text(rows, encoding="utf-8")
    draft = import_codebook(tmp_path / "codes.csv")
    assert completed(draft).columns == ("sex", "ward")
    with pytest.raises(ValueError, match="column must be left out"):
        import_codebook(tmp_path / "codes.csv", column="sex")


def test_a_value_may_have_the_usual_name_of_all_other_cells(tmp_path):
    (tmp_path / "codes.csv").write_text("column,value,label\nsex,f,\nsex,other,X\n")
    (field,) = CodeBook.of(tmp_path / "codes.csv").fields
    assert (field[1], field.other) == ("other", "any other")


def test_a_row_of_a_lookup_table_may_end_early(tmp_path):
    rows = "column,value,label\nsex,f,female\nsex\nsex,m\n"
    (tmp_path / "codes.csv").write_text(rows, encoding="utf-8")
    field = fields_of(import_codebook(tmp_path / "codes.csv"))["sex"]
    assert field["categories"] == [{"value": "f", "label": "female"}, {"value": "m"}]


@pytest.mark.parametrize("value", ["0..{}", "{}..0"])
def test_an_end_that_is_too_long_for_python_is_refused_by_a_sentence_of_ours(tmp_path, value):
    """Python's own would advise to change a setting of the interpreter."""
    path = tmp_path / "values.csv"
    path.write_text(f"column,value\nage,{value.format('9' * 5000)}\n")
    with pytest.raises(
        ValueError, match=r"^column 'age': alphabet must have ends of at most 18 digits"
    ):
        CodeBook.of(path)


def test_a_lookup_table_of_excel(tmp_path):
    book = openpyxl.Workbook()
    for row in (["code", "label"], [1, "one"], [2.0, "two"], [None, None]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    draft = import_codebook(tmp_path / "a.xlsx", column="x")
    assert [c["value"] for c in fields_of(draft)["x"]["categories"]] == [1, 2]
    assert "Excel turns 001 into 1" in draft["draft"][-1]
    (tmp_path / "b.xlsx").write_bytes(b"PK nonsense")
    with pytest.raises(ValueError, match="file must be a readable Excel file"):
        import_codebook(tmp_path / "b.xlsx")


DICTIONARY = """\
Variable / Field Name,Form Name,Field Type,Field Label,"Choices, Calculations, OR Slider Labels",\
Text Validation Type OR Show Slider Number,Text Validation Min,Text Validation Max,Identifier?
record_id,base,text,Record,,,,,y
sex,base,radio,Sex,"1, female, or not | 2, male",,,,
race,base,checkbox,Race,"1, A | -99, unknown",,,,
smoker,base,yesno,Smoker,,,,,
age,base,text,Age,,integer,0,120,
height,base,text,Height,,number,50,250,
visit,base,text,Visit,,date_dmy,,,
bmi,base,calc,BMI,"[weight]/[height]",,,,
pain,base,slider,Pain,none | some | much,,,,
note,base,notes,Note,,,,,
town,base,text,Town,,,,,
score,base,text,Score,,integer,today,120,
"""


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("column,value,label\nx,1,one\nx,1,uno\nx,2,two\n", "1"),
        ("column,value\nx,1\ny,1\nx,1\n", "1"),
        ("column,value,label\nx,A,big\nx,A ,with a blank\n", "A"),
        ("column,value\nx,0..9\nx,0..9\n", "0..9"),
        ("x,label\n1,one\n1,uno\n", "1"),
        ('field_name,field_type,{}\nx,radio,"1, Male | 1, Female"\n', "1"),
        ('field_name,field_type,{}\nx,checkbox,"1, A | 1, B"\n', "1"),
    ],
)
def test_a_value_that_is_listed_twice_is_refused_with_its_column(tmp_path, text, value):
    path = tmp_path / "codes.csv"
    path.write_text(text.format("select_choices_or_calculations"))
    sentence = rf"^column 'x' must list each value once, got '{value}'\.$"
    with pytest.raises(ValueError, match=sentence):
        import_codebook(path)
    if text.startswith("column"):
        with pytest.raises(ValueError, match=sentence):
            CodeBook.of(path)


def test_a_data_dictionary_of_redcap(tmp_path):
    (tmp_path / "dictionary.csv").write_text(DICTIONARY, encoding="utf-8")
    draft = import_codebook(tmp_path / "dictionary.csv")
    fields = fields_of(draft)
    assert list(fields) == [
        *("sex", "race___1", "race____99", "smoker", "age", "height", "visit", "pain", "town"),
        "score",
    ]
    assert fields["sex"]["categories"][0] == {"value": 1, "label": "female, or not"}
    assert fields["age"]["constraints"] == {"minimum": 0, "maximum": 120}
    assert fields["score"]["constraints"] == {"minimum": "TODO: ", "maximum": 120}
    assert fields["pain"]["constraints"] == {"minimum": 0, "maximum": 100}
    assert "record_id, bmi, note" in draft["draft"][-1]
    whole = ["sex", "race___1", "race____99", "smoker", "age", "pain"]
    draft["schema"]["fields"] = [fields[name] for name in whole]
    assert completed(draft).sizes == (3, 3, 3, 3, 122, 102)


def test_headers_of_spss_and_stata(tmp_path):
    frame = pd.DataFrame({"sex": [1.0, 2.0, 9.0], "fee": [CANARY] * 3, "town": ["x"] * 3})
    labels = {"sex": {1: "female", 2: "male", 9: "refused"}}
    pyreadstat.write_sav(
        frame,
        tmp_path / "a.sav",
        variable_value_labels=labels,
        missing_ranges={"sex": [{"lo": 9, "hi": 9}]},
    )
    pyreadstat.write_dta(frame, tmp_path / "a.dta", variable_value_labels=labels)
    spss = import_codebook(tmp_path / "a.sav")
    sex = fields_of(spss)["sex"]
    assert [category["value"] for category in sex["categories"]] == [1, 2]
    assert sex["missingValues"] == ["", "9"]
    stata = fields_of(import_codebook(tmp_path / "a.dta"))
    assert [category["value"] for category in stata["sex"]["categories"]] == [1, 2, 9]
    assert str(int(CANARY)) not in json.dumps([spss, stata])
    assert "labels need not name them all" in spss["draft"][-1]
    assert "Stata's 'encode' makes labels of the data" in spss["draft"][-2]
    assert "female" not in json.dumps(draft_codebook(tmp_path / "a.sav"))  # who knows its origin?
    labels = {"sex": {0.5: "half", 1: "whole", 1.5: "half"}}
    pyreadstat.write_sav(frame, tmp_path / "c.sav", variable_value_labels=labels)
    sex = fields_of(import_codebook(tmp_path / "c.sav"))["sex"]
    assert [category["value"] for category in sex["categories"]] == ["half", "whole"]
    (tmp_path / "b.sav").write_bytes(b"nonsense")
    with pytest.raises(ValueError, match="data must be a readable SPSS or Stata file"):
        import_codebook(tmp_path / "b.sav")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.xml", "<a/>", "the end of the file's name must be one of"),
        ("a.csv", "code,label\n", "have a header and a row below it"),
        ("a.csv", "a,b,c,d\n1,2,3,4\n", "To draft a code book of data: dproo.draft_codebook"),
        ("a.pdf", "x", "the end of the file's name must be one of"),
    ],
)
def test_what_cannot_be_imported_is_refused(tmp_path, name, text, message):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        import_codebook(tmp_path / name)


def test_a_column_is_for_lookup_tables_only(tmp_path):
    with pytest.raises(ValueError, match="column must be given with a lookup table only"):
        import_codebook(tmp_path / "a.sav", column="sex")
