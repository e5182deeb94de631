"""How much of a sampler's loss an audit finds, and what a trial costs.

python benchmarks/audit.py
"""

import math
import time

import dproo
from dproo.mechanisms import SAMPLERS

TRIALS = [10**power for power in range(3, 8)]
SIZES = [(2, 2), (5, 2), (10, 3), (20, 4), (100, 5), (1000, 20)]


def found(name: str, n: int, k: int, trials: int) -> tuple[float, float]:
    """Return the share of the worst pair's loss that was found, and the seconds taken."""
    sampler = dproo.mechanism(name, epsilon=1, n=n, k=k)
    if not isinstance(sampler, dproo.Mechanism):
        raise TypeError(name)
    witness = dproo.certify(sampler).witness
    loss = math.log(sampler.ratio(witness))
    start = time.perf_counter()
    audit = dproo.audit(sampler, witness.before, witness.after, trials=trials)
    return audit.epsilon_lower / loss, time.perf_counter() - start


def main() -> None:
    """Print the shares by trials, then by sizes, and the time of the largest audit."""
    print("share of the worst pair's loss found at epsilon = 1, confidence 0.999; n = 5, k = 2")
    print(f"{'trials':<12}" + "".join(f"{trials:>12,}" for trials in TRIALS) + "   us a draw")
    for name in SAMPLERS:
        rows = [found(name, 5, 2, trials) for trials in TRIALS]
        cost = rows[-1][1] / (2 * TRIALS[-1]) * 1e6
        print(f"{name:<12}" + "".join(f"{share:12.3f}" for share, _ in rows) + f"   {cost:.2f}")
    print("\nby n, k with 1,000,000 trials")
    print(" " * 12 + "".join(f"{f'{n}, {k}':>12}" for n, k in SIZES))
    for name in SAMPLERS:
        shares = [found(name, n, k, 10**6)[0] for n, k in SIZES]
        print(f"{name:<12}" + "".join(f"{share:12.3f}" for share in shares))


if __name__ == "__main__":
    main()
