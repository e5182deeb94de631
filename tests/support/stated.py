"""Which numbers of a text are claims.

Every number is one, in digits or in words, and a test has to name its source, except

* a formula: one that is set apart, or quoted from Coq or from code. In one within a line a whole
  number below ten and an exponent are algebra (``2ε``, ``k/2``, ``n ≥ 3``);
* a number in quotes: a cell of somebody's data ("007");
* a label: Theorem 4, Lemma 3, (2), the number of an item, a year, a version;
* 0, 1 and one; and in an argument two, three, half, twice, which count what the sentence lists
  ("the two sides"). Where a section reports what was measured, tested or chosen, they are claims;
* what is given: an argument of a claim in the same paragraph (at ``n = 1000`` it is 0.5).
"""

import math
import re
from fractions import Fraction

WORDS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "sixteen": 16, "twenty": 20, "thirty": 30, "forty": 40,
    "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100,
    "thousand": 1000, "million": 10**6, "half": Fraction(1, 2), "twice": 2,
    "fifth": Fraction(1, 5), "sixth": Fraction(1, 6), "eighth": Fraction(1, 8),
    "tenth": Fraction(1, 10), "sixteenths": Fraction(1, 16), "twentieth": Fraction(1, 20),
    "fiftieth": Fraction(1, 50), "hundredth": Fraction(1, 100), "thousandth": Fraction(1, 1000),
    "millionth": Fraction(1, 10**6), "½": Fraction(1, 2), "¼": Fraction(1, 4),
}  # fmt: skip
LISTED = {"two", "three", "half", "twice", "½"}
"""Words that count what a sentence lists."""

REPORTS = re.compile(
    r"tests check|machine|Machine|rests on|How sharp|Which steps|Choices|Measured|How to check|open"
)
"""Titles of sections that report."""

SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
POWER = r"(?:\d·)?(?:2|10)(?:[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+|\^-?\d\d|\^\(-?\d+\))|10\^-\d"
NUMBER = re.compile(
    rf"(?<![\w.,^]){POWER}|(?<![\w.,-])\d[\d,]*\.\d+"
    r"|(?<![\w.,^-])(?<!\d/)(?:\d+/\d+|\d[\d,]*\d)(?![\d/^⁰¹²³⁴⁵⁶⁷⁸⁹])"
    r"|(?<![\w.,^-])(?<!\d/)\d(?![\w/^⁰¹²³⁴⁵⁶⁷⁸⁹]|,\d\d\d)"
    rf"|(?<!\w)(?:{'|'.join(WORDS)})(?!\w|-sided)",
    re.IGNORECASE,
)
LABEL = re.compile(
    r"(?:Theorem|Lemma|Algorithm|Section|Statement|Point|\[rows,)s?\s+\d+(?:\.\d+)?"
    r"(?:(?:, | and | to )\d+)*"
    r"|^(?:- |\*\*)?\d(?:, \d)*[.,](?= |\*\*)|\(\d\)|\b(?:19|20)\d\d(?=[),:])|arXiv [\d.]+"
    r"|(?:Coq|Components) \d+\.\d+",
    re.IGNORECASE | re.MULTILINE,
)
APART = re.compile(r"```(?s:.*?)```|^ {4,}(?:dproo .*|(?!.*\d\.\d).*)$|\]\([^)]*\)", re.MULTILINE)
CELL = re.compile(r'"[\d.,-]+"')


def value_of(number):
    """Return what a number says, exactly: 1,200, seven, 3/5, 2·10⁸ or 2^-96."""
    if number.lower() in WORDS:
        return Fraction(WORDS[number.lower()])
    factor, _, number = number.replace(",", "").rpartition("·")
    found = re.fullmatch(r"(2|10)\^?\(?(-?\d+)\)?", number.translate(SUPERSCRIPTS))
    if found and re.search(r"[\^⁻⁰¹²³⁴⁵⁶⁷⁸⁹]", number):
        return int(factor or 1) * Fraction(int(found[1])) ** int(found[2])
    return Fraction(number)


def is_said(number, value):
    """Return whether a value is what a number says of it, rounded as the number is."""
    if isinstance(value, float):
        if re.fullmatch(r"[\d,.]+", number):
            return f"{value:.{len(number.partition('.')[2])}f}" == number.replace(",", "")
        return math.isclose(value, value_of(number))
    return value_of(number) == Fraction(value)


def numbers(text):
    """Return the numbers of a text, whatever they are."""
    return NUMBER.findall(APART.sub("", text))


def claims(text, *, reports=False):
    """Return the numbers of a paragraph that are claims."""
    found = []
    for place, part in enumerate(re.split("[`$]", LABEL.sub("", CELL.sub("", text)))):
        is_formula = place % 2
        for number in NUMBER.findall(part):
            if (number.lower() in LISTED and not reports) or number in {"0", "1"}:
                continue
            if is_formula and re.fullmatch(r"\d(?:/\d)?|½", number):
                continue
            found.append(number)
    return found


def paragraphs(text, *, title):
    """Return the paragraphs of a page, each with whether its section reports."""
    reports = False
    for part in re.split(r"\n\s*\n", APART.sub("", text)):
        if heading := re.search(title, part, re.MULTILINE):
            reports = bool(REPORTS.search(heading[0]))
        yield part, reports
