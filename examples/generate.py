"""Write the example data: invented hospital admissions, and the public list of codes.

The records are drawn by a seeded generator and describe nobody. Run from this folder:

    python generate.py
"""

import csv
import random
from datetime import date, timedelta
from pathlib import Path

FOLDER = Path(__file__).parent
ROWS = 4000

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


def main() -> None:
    """Write admissions.csv and diagnosis_codes.txt."""
    chance = random.Random(20250101)  # noqa: S311 - invented data, nothing to protect
    codes = list(SHARES)
    (FOLDER / "diagnosis_codes.txt").write_text("\n".join(codes) + "\n", encoding="utf-8")
    with (FOLDER / "admissions.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["admission", "admitted", "ward", "sex", "age", "diagnosis"])
        for i in range(1, ROWS + 1):
            day = date(2024, 1, 1) + timedelta(days=chance.randrange(366))
            age = min(99, max(18, round(chance.gauss(67, 16))))
            (code,) = chance.choices(codes, weights=list(SHARES.values()))
            if chance.random() < 0.01:
                code = chance.choice(["", "unknown", "Z99"])
            ward = chance.choice("ABCDEF")
            rows.writerow([i, day, ward, chance.choice(["female", "male"]), age, code])


if __name__ == "__main__":
    main()
