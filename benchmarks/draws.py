"""Independent exact draws over 1,000 letters, against NumPy's non-secure choice, in one run.

python benchmarks/draws.py
"""

import time
from collections.abc import Callable

import numpy as np

import dproo

LETTERS, DRAWS, ROUNDS = 1000, 10**6, 7


def seconds(run: Callable[[], object]) -> float:
    """Return how long ``run`` takes."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def main() -> None:
    """Print the ratio for each sampler: the median over interleaved rounds."""
    generator = np.random.default_rng()
    counts = [int(count) for count in generator.multinomial(10**6, np.full(LETTERS, 1 / LETTERS))]
    print(f"{DRAWS:,} independent draws over {LETTERS:,} letters, ratio to numpy choice")
    for name in ("roo", "ds-roo", "ls-roo", "subrr"):
        sampler = dproo.mechanism(name, epsilon="0.1", n=sum(counts), k=LETTERS)
        law = np.array([float(p) for p in sampler.pmf(counts)])
        law /= law.sum()
        ours, theirs = [], []
        for _ in range(ROUNDS):
            ours.append(seconds(lambda: sampler.draw_many(counts, DRAWS)))  # noqa: B023
            theirs.append(seconds(lambda: generator.choice(LETTERS, size=DRAWS, p=law)))  # noqa: B023
        ratio = float(np.median(np.array(ours) / np.array(theirs)))
        print(f"{name:<7} {ratio:6.2f} x   ({min(ours):.3f} s against {min(theirs):.3f} s)")


if __name__ == "__main__":
    main()
