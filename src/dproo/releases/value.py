"""One or several values of a column: the public choices, checked before anything is charged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dproo.analysis.certificate import certify
from dproo.analysis.composition import RELEASES_MAX
from dproo.core.checks import one_of, refusal, whole
from dproo.core.counts import Counts
from dproo.core.draw import RandomSource
from dproo.core.numbers import fraction_text
from dproo.core.partition import blocks, deal, is_worth_it, scatter, seen_letters
from dproo.mechanisms import AUTO, PLAIN, SAMPLERS, Mechanism, choose
from dproo.mechanisms.base import enough
from dproo.mechanisms.registry import certified, takes
from dproo.releases.request import FEW, Assurance, Drawn, Request, room_of
from dproo.schema import OTHER, Alphabet, Record

_FOR_GROUPS = "One table serves every group."


@dataclass(frozen=True, kw_only=True)
class SampleRequest(Request):
    """All public choices of a release of values, checked; it holds nothing of the data.

    Attributes:
        alphabet: the public letters.
        column: the column that holds them, if the alphabet names none.
        sampler: the name of a sampler, or ``"auto"``.
        size: how many records.
    """

    alphabet: Alphabet
    column: str | None = None
    sampler: str = AUTO
    size: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        vars(self).update(
            sampler=one_of("sampler", self.sampler, (*SAMPLERS, AUTO)),
            size=whole("size", self.size, at_least=1, at_most=RELEASES_MAX),
        )
        if self.alphabet.k < 2:
            raise ValueError(refusal("alphabet", "have at least 2 letters", self.alphabet.k))
        if self.groups is not None:
            if self.size > 1 or self.alphabet.columns:
                raise ValueError(
                    "by must be used with one record per group and letters of one column."
                )
            if self.column is None:
                raise ValueError("column must be given with groups: it holds the letters.")
            self.groups.require_apart((self.column,))
            if self.alphabet.policy != OTHER:
                raise ValueError(refusal("policy", "be 'other' with groups", self.alphabet.policy))
        # Refuse now what no data could make valid.
        if self.chosen == AUTO:
            replace(self, sampler=PLAIN)
        else:
            self.sampler_for(self.size if self.is_joint else 1)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read, the one of the groups first; empty without names."""
        return self.counted_alphabets[0].columns or ((self.column,) if self.column else ())

    @property
    def records_needed(self) -> int:
        """The fewest records that the data must have, if their number is public."""
        return self.size

    @property
    def counted_alphabets(self) -> tuple[Alphabet, ...]:
        """The alphabet to count by: the letters, or groups and letters."""
        if self.groups is None:
            return (self.alphabet,)
        axes = (self.groups.axis, replace(self.alphabet.axes[0], is_open=True))
        return (Alphabet(axes=axes, columns=(self.groups.by, str(self.column))),)

    @property
    def chosen(self) -> str:
        """The sampler, or ``"auto"`` until the number of records is known."""
        return PLAIN if self.sampler == AUTO and self.groups is not None else self.sampler

    def settled(self, n: int) -> tuple[SampleRequest, str | None]:
        """Return the choices with the sampler that ``"auto"`` takes, and the reason.

        If the number of records is private, ``n`` is ignored.
        """
        if self.chosen != AUTO:
            return self, (None if self.sampler != AUTO else _FOR_GROUPS)
        choice = choose(
            epsilon=self.epsilon,
            k=self.alphabet.k,
            n=n if self.is_n_public else None,
            neighbours=self.relation,
            draws=self.size,
            records_per_person=self.protection.records,
        )
        return replace(self, sampler=choice.sampler), choice.reason

    @property
    def is_joint(self) -> bool:
        """Whether several records are drawn jointly rather than from disjoint blocks."""
        return self.size == 1 or (self.chosen != AUTO and takes(SAMPLERS[self.chosen], "draws"))

    @property
    def is_dealt(self) -> bool:
        """Whether records are assigned at random one by one, as to blocks."""
        return super().is_dealt or (self.groups is None and not self.is_joint)

    @property
    def public_choices(self) -> dict[str, Any]:
        """The choices as they stand in the ledger."""
        return {
            "sampler": self.chosen,
            "size": self.size,
            "by": None if self.groups is None else self.groups.by,
            "k": self.alphabet.k,
            "alphabet_sha256": self.counted_alphabets[0].digest,
        }

    @property
    def values_room(self) -> int:
        """Bytes of the receipt that the released values may need."""
        (alphabet,) = self.counted_alphabets
        times = self.size if self.groups is None else self.groups.axis.size
        return room_of(times, alphabet.columns, alphabet.axes)

    @property
    def rehearsal(self) -> SampleRequest:
        """The same release of few records."""
        return replace(self, size=min(self.size, FEW))

    def draw(self, tables: Sequence[Counts], source: RandomSource) -> Drawn:
        """Return the records, drawn by certified samplers."""
        (counts,) = tables
        settled, reason = self.settled(counts.n)
        samplers, values = settled._drawn(counts, source)  # noqa: SLF001 - of the same class
        is_whole = samplers[0].records_per_person == self.protection.records
        certificates = [certify(sampler) for sampler in samplers]
        worst = max(certificates, key=lambda certificate: certificate.ratio)
        return Drawn(
            values=values,
            facts={"values": list(values), **settled._facts, "sampler_reason": reason},  # noqa: SLF001
            certificate={
                "holds": all(certificate.holds for certificate in certificates),
                "epsilon": worst.epsilon,
                "ratio": fraction_text(worst.ratio),
                "covers": self.covers(of_a_person=is_whole),
            },
            assurance=settled._assurance(samplers),  # noqa: SLF001
        )

    def _assurance(self, samplers: Sequence[Mechanism]) -> Assurance:
        """Return the worst case; if the number of records is private, at a public number."""
        scope = "in each group" if self.groups else "for each record" if self.size > 1 else ""
        if self.is_n_public:
            worst = max(sampler.worst_alpha for sampler in samplers)
            return Assurance(alpha=worst, scope=scope, is_of_people=self.protection.counts_people)
        person = self.protection.records
        records = enough(self.epsilon, self.alphabet.k, draws=self.size, records_per_person=person)
        return Assurance(
            alpha=self.sampler_for(1).worst_alpha_of_each(records, draws=self.size),
            records=records,
            scope=scope,
            is_of_people=self.protection.counts_people,
        )

    def _drawn(
        self, counts: Counts, source: RandomSource
    ) -> tuple[list[Mechanism], tuple[Record, ...]]:
        if self.is_joint and self.groups is None:
            sampler = self.sampler_for(counts.n)
            return [sampler], tuple(self.alphabet.records(sampler.draw(counts, source=source)))
        if self.groups is not None and not self.is_n_public:
            sampler = self.sampler_for(1)
            drawn = sampler.draw_each(counts, source=source)
            return [sampler], tuple(self._labelled(self.alphabet.records(drawn)))
        if self.groups is None and is_worth_it(seen := seen_letters(counts), self.size):
            return self._dealt(seen, counts.n, source)
        if self.groups is not None:
            parts = list(counts.split(self.alphabet.k))
        else:
            parts = (blocks if self.is_n_public else scatter)(counts, self.size, source)
        samplers = (
            {part.n: self.sampler_for(part.n) for part in parts if part.n}
            if self.is_n_public
            else {}
        )
        sampler = self.sampler_for(1)
        letters = [
            self.alphabet[samplers.get(part.n, sampler).draw(part, source=source)[0]]
            if part.n or not self.is_n_public
            else None
            for part in parts
        ]
        return list(samplers.values()) or [sampler], tuple(self._labelled(letters))

    def _dealt(
        self, seen: Sequence[tuple[int, int]], n: int, source: RandomSource
    ) -> tuple[list[Mechanism], tuple[Record, ...]]:
        """Return a record of each block, whose records are dealt one by one."""
        is_even = self.is_n_public
        parts = deal(seen, self.size, source, evenly=is_even)
        each, more = divmod(n, self.size) if is_even else (1, 0)
        samplers = [self.sampler_for(each + 1)] * more if more else []
        samplers += [self.sampler_for(each)] * (self.size - more)
        drawn = [
            sampler.draw_from_seen(part, source=source)
            for sampler, part in zip(samplers, parts, strict=True)
        ]
        return list(dict.fromkeys(samplers)), tuple(self.alphabet.records(drawn))

    def _labelled(self, letters: Sequence[Any]) -> Iterator[Record]:
        if self.groups is None:
            yield from letters
            return
        names = self.groups.by, str(self.column)
        for place, letter in enumerate(letters):
            yield dict(zip(names, (self.groups.axis[place], letter), strict=True))

    @property
    def _facts(self) -> dict[str, Any]:
        several = "drawn jointly" if self.is_joint else "one from each of as many disjoint blocks"
        return {
            "sampler": self.chosen,
            "several": None if self.size == 1 else several,
            "groups": None
            if self.groups is None
            else {**self.groups.facts, "epsilon_each": str(self.epsilon)},
            "k": self.alphabet.k,
            "alphabet_sha256": self.counted_alphabets[0].digest,
        }

    def sampler_for(self, n: int) -> Mechanism:
        """Return the certified sampler for a dataset, or a block, of ``n`` records.

        If the number of records is private, ``n`` is ignored.
        """
        options: dict[str, Any] = {"k": self.alphabet.k, "neighbours": self.relation}
        if self.is_n_public:
            options["n"] = n
        if self.is_joint and self.size > 1:
            options["draws"] = self.size
        kind = SAMPLERS[self.chosen]
        if self.groups is None:
            return certified(kind, self.epsilon, self.protection.records, **options)
        # A sampler's own bound for several records is for one dataset; in several groups it
        # would not add up.
        return certified(kind, self.epsilon / self.protection.records, 1, **options)
