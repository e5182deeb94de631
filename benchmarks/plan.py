"""How long the planner takes: 200 questions drawn at random over all ranges.

`python benchmarks/plan.py` prints the seconds of processor time of the median, the slowest
tenth and the slowest question, how many took longer than allowed, and the slowest itself.
"""

from __future__ import annotations

import random
import sys
import time

import dproo

QUESTIONS = 200
ALLOWED = 0.2
DECADES = {"n": (0, 12), "k": (0.302, 9), "epsilon": (-6, 1.3), "alpha": (-6, -0.05)}


def a_question(dice: random.Random) -> dict[str, int | str]:
    """Return a question with one parameter missing, each as likely, evenly on a log scale."""
    question: dict[str, int | str] = {}
    for name, decades in DECADES.items():
        value = 10 ** dice.uniform(*decades)
        question[name] = int(value) if name in {"n", "k"} else f"{value:.3g}"
    question["k"] = max(2, int(question["k"]))
    del question[dice.choice(list(DECADES))]
    return question


def main() -> None:
    """Ask, and print what was slow."""
    dice = random.Random()  # noqa: S311 - questions are public
    dproo.plan(n=10, k=2, epsilon=1)  # imports
    taken = []
    for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else QUESTIONS):
        question = a_question(dice)
        start = time.process_time()
        dproo.plan(**question)  # type: ignore[arg-type]
        taken.append((time.process_time() - start, question))
    taken.sort(key=lambda pair: pair[0])
    seconds = [second for second, _ in taken]
    print(
        f"median {seconds[len(seconds) // 2]:.3f} s, 90 % {seconds[len(seconds) * 9 // 10]:.3f} s"
    )
    print(f"above {ALLOWED} s: {sum(second > ALLOWED for second in seconds)} of {len(seconds)}")
    print(f"slowest {seconds[-1]:.3f} s: {taken[-1][1]}")


if __name__ == "__main__":
    main()
