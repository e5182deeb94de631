"""How long it takes to make and certify each sampler, as ``n`` and ``1/epsilon`` grow.

python benchmarks/certificates.py
"""

import time

import dproo

SETTINGS = [
    (10**3, 9, "0.1"),
    (10**6, 10**3, "0.01"),
    (10**9, 10**6, "0.01"),
    (10**12, 10**6, "0.01"),
    (10**12, 10**6, "0.001"),
    (10**6, 10**6, "0.001"),
]


def main() -> None:
    """Print seconds for each setting and sampler."""
    print(f"{'n':>8} {'k':>8} {'epsilon':>8}   seconds to make and certify")
    for n, k, epsilon in SETTINGS:
        taken = []
        for name in ("roo", "subrr", "ds-roo", "ls-roo"):
            start = time.perf_counter()
            certificate = dproo.certify(dproo.mechanism(name, epsilon=epsilon, n=n, k=k))
            taken.append(f"{name} {time.perf_counter() - start:.3f}")
            if not certificate.holds:
                raise SystemExit(f"{name} does not hold")
        print(f"{n:8.0e} {k:8.0e} {epsilon:>8}   {'   '.join(taken)}")


if __name__ == "__main__":
    main()
