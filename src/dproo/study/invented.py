"""Invented admissions to a hospital that does not exist, for demonstrations: nobody is in them."""

from __future__ import annotations

import random
from datetime import date, timedelta

RECORDS = 4000
SHARES = {
    "I50": 16,  # heart failure
    "J18": 14,  # pneumonia
    "S72": 11,  # fracture of the femur
    "I63": 10,  # cerebral infarction
    "A41": 9,  # sepsis
    "I21": 8,  # myocardial infarction
    "J44": 8,  # chronic obstructive pulmonary disease
    "N39": 7,  # urinary tract infection
    "E11": 6,  # type 2 diabetes
    "K80": 5,  # gallstones
    "C34": 3,  # lung cancer
    "F10": 2,  # alcohol-related disorder
    "G35": 1,  # multiple sclerosis
    "B20": 0,  # HIV disease: a code nobody here has
}
_OF_DIAGNOSIS = {"parents": ["diagnosis"]}
FIELDS = (
    {"name": "diagnosis", "type": "string", "categories": list(SHARES)},
    {"name": "sex", "type": "string", "categories": ["female", "male"], **_OF_DIAGNOSIS},
    {"name": "age", "type": "integer", "bins": [0, 18, 40, 65, 80, 120], **_OF_DIAGNOSIS},
    {"name": "ward", "type": "string", "categories": list("ABCDEF"), **_OF_DIAGNOSIS},
)


def invented() -> str:
    """Return records of nobody, the same each time."""
    chance = random.Random(20250101)  # noqa: S311 - nothing to protect
    lines = ["admission,admitted,ward,sex,age,diagnosis"]
    for i in range(1, RECORDS + 1):
        day = date(2024, 1, 1) + timedelta(days=chance.randrange(366))
        age = min(99, max(18, round(chance.gauss(67, 16))))
        (code,) = chance.choices(list(SHARES), weights=list(SHARES.values()))
        if chance.random() < 0.01:
            code = chance.choice(["", "unknown", "Z99"])
        ward = chance.choice("ABCDEF")
        lines.append(f"{i},{day},{ward},{chance.choice(['female', 'male'])},{age},{code}")
    return "\n".join(lines) + "\n"
