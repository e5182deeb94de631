"""Check every proof from scratch, print what is proven, and fail on any axiom.

``make proofs`` runs it. The reading of the sources, below, is also what the tests compare the
documentation and the conditions in ``dproo.mechanisms.hypotheses`` with.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Semaphore

FOLDER = Path(__file__).parent
CLOSED = "Closed under the global context"
GAPS = r"\b(Admitted|admit|give_up|Axioms?|Parameters?|Conjecture|Abort|Unset Guard Checking)\b"
SENTENCE = re.compile(r"(.+?)\.(?=\s|$)", re.DOTALL)


@dataclass(frozen=True)
class Theorem:
    """A theorem as its source states it: its name, its text, and the hypotheses of its section."""

    file: str
    name: str
    statement: str
    hypotheses: dict[str, str]

    @property
    def quote(self) -> str:
        """The hypotheses and the theorem, as a page quotes them."""
        return "\n".join([*self.hypotheses.values(), self.statement])


def files() -> list[str]:
    """Return the sources in the order in which they are checked."""
    return [line for line in (FOLDER / "_CoqProject").read_text().split() if line.endswith(".v")]


def without_comments(text: str) -> str:
    """Return a source without its comments."""
    return re.sub(r"\(\*.*?\*\)", "", text, flags=re.DOTALL)


def theorems() -> dict[str, Theorem]:
    """Return every theorem of the sources by its name."""
    found: dict[str, Theorem] = {}
    for file in files():
        sections: list[dict[str, str]] = [{}]
        for sentence in SENTENCE.findall(without_comments((FOLDER / file).read_text())):
            text = f"{sentence.strip()}."
            kind, name = [*text.rstrip(".").split(maxsplit=2), "", ""][:2]
            if kind == "Section":
                sections.append({})
            elif kind == "End":
                sections.pop()
            elif kind == "Hypothesis":
                sections[-1][name] = text
            elif kind == "Theorem":
                given = {key: value for section in sections for key, value in section.items()}
                found[name] = Theorem(file, name, text, given)
    return found


def gaps() -> list[str]:
    """Return every place in the sources where something is assumed or left out."""
    return [
        f"{path.name}: {gap}"
        for path in sorted(FOLDER.glob("*.v"))
        for gap in re.findall(GAPS, without_comments(path.read_text()))
    ]


def run(*command: str, folder: Path, given: str = "") -> str:
    """Return what a command prints; end the program if it fails."""
    done = subprocess.run(
        command, cwd=folder, input=given, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed.\n{done.stdout}{done.stderr}")
    return done.stdout


def imports(file: str) -> list[str]:
    """Return the other sources that a source builds on."""
    names = re.findall(r"From dproo Require Import ([^.]*)\.", (FOLDER / file).read_text())
    return [f"{name}.v" for name in " ".join(names).split()]


def compile_all(folder: Path, flags: Sequence[str]) -> None:
    """Compile all sources, one on each processor, each as soon as those it builds on are ready."""
    processors = Semaphore(os.cpu_count() or 1)
    jobs: dict[str, Future[None]] = {}

    def compile_one(file: str) -> None:
        for needed in imports(file):
            jobs[needed].result()
        with processors:
            print(f"checking {file}", flush=True)
            run("coqc", *flags, file, folder=folder)

    with ThreadPoolExecutor(len(files())) as pool:
        for file in files():
            shutil.copy(FOLDER / file, folder)
            jobs[file] = pool.submit(compile_one, file)
    for job in jobs.values():
        job.result()


def main() -> None:
    """Compile a copy of the sources and ask what each theorem rests on."""
    if gaps():
        sys.exit(f"The proofs have gaps: {', '.join(gaps())}.")
    flags = "-w", "-all", "-Q", ".", "dproo"
    with tempfile.TemporaryDirectory() as copy:
        folder = Path(copy)
        compile_all(folder, flags)
        modules = " ".join(file.removesuffix(".v") for file in files())
        asked = "".join(f"Print Assumptions {name}.\n" for name in theorems())
        (folder / "Asked.v").write_text(f"From dproo Require Import {modules}.\n{asked}")
        answers = run("coqc", *flags, "Asked.v", folder=folder).splitlines()
    for theorem in theorems().values():
        print(f"\n{theorem.file}\n{theorem.quote}")
    if answers != [CLOSED] * len(theorems()):
        sys.exit("\n".join(["A theorem rests on an axiom:", *answers]))
    print(f"\n{len(theorems())} theorems are proven, without an axiom.")


if __name__ == "__main__":
    main()
