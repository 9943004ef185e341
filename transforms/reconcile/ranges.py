"""Which keys two copies of a table differ in, found by counts and checksums of ranges of keys.

A range whose digests differ is cut into smaller ones, until it is small enough for its keys and the hashes of their
rows to be fetched. So little is fetched where little differs, however large the table is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol, TypeAlias

from transforms.change import Key

Bound: TypeAlias = "Key | None"
"""A key at which a range begins or ends; None where it is open."""

Bounds: TypeAlias = "tuple[Bound, ...]"
"""Keys in the table's order, which cut a stretch of it into ranges: each has its lower bound, not its upper one."""

MODULUS: Final = 2**64
"""Hashes of rows are added up modulo this."""


MIN_BOUNDS: Final = 3
"""The bounds of a stretch that is cut."""


class Digest(NamedTuple):
    """What is compared of a range: how many rows it has, and the sum of their hashes."""

    rows: int
    checksum: int


class Range(NamedTuple):
    """One range that differs, and how many rows each copy has of it."""

    low: Bound
    high: Bound
    in_source: int
    in_gold: int

    @property
    def rows(self) -> int:
        """How many rows the copy has that has more."""
        return max(self.in_source, self.in_gold)


class Copy(Protocol):
    """One of the two copies. Both order keys alike, and hash equal rows alike."""

    def digests(self, stretches: Sequence[Bounds]) -> list[list[Digest]]:
        """Of each stretch the digests of its ranges, of which there is one less than bounds."""

    def hashes(self, ranges: Sequence[Range]) -> dict[Key, int]:
        """The keys of these ranges, with the hashes of their rows."""

    def cuts(self, one: Range, parts: int) -> list[Key]:
        """Keys within a range, in order, that cut it into about so many parts of about equal size; none is its low."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a table is cut.

    ``first``: about how many rows a stretch has, which is what one question to the source is about. ``parts``: into how
    many ranges a stretch, and each range that differs, is cut. ``leaf``: a range of so many rows is fetched. ``most``:
    after so many keys that differ, no more are looked for. ``at_once``: about how many ranges one question is about.
    """

    first: int = 65_536
    parts: int = 32
    leaf: int = 64
    most: int = 10_000
    at_once: int = 512


@dataclass(slots=True)
class Found:
    """What a comparison found: the keys that differ, and what it took.

    ``is_whole``: whether all keys that differ are among ``keys``; else there are more. ``in_source`` and ``in_gold``:
    how many rows there are. ``fetched``: of how many rows of the source the key was fetched. ``repeated``: how many
    rows, of either copy, have a key that another row of it has, too; of them nothing is known.
    """

    keys: list[Key] = field(default_factory=list)
    is_whole: bool = True
    in_source: int = 0
    in_gold: int = 0
    fetched: int = 0
    repeated: int = 0


def differing(source: Copy, gold: Copy, plan: Plan, rows: int) -> Iterator[Found]:
    """The keys whose rows differ between the copies; ``rows``: how many gold has.

    After every question to the source, what is found so far is given: it is always the same object.
    """
    found = Found()
    level: list[Range] = []
    for bounds in _stretches(gold, plan, rows):
        level += _different(source, gold, [bounds], found)
        yield found
    while level:
        large = [one for one in level if one.rows > plan.leaf]
        small = [one for one in level if one.rows <= plan.leaf]
        level = []
        enough = _enough(small, plan.most - len(found.keys))
        found.is_whole = found.is_whole and len(enough) == len(small)
        small = enough
        for some in _some(small, plan.at_once):
            if len(found.keys) >= plan.most:
                found.is_whole = False
                return
            _compare(source, gold, some, found)
            yield found
        enough = _enough(large, plan.most - len(found.keys))
        found.is_whole = found.is_whole and len(enough) == len(large)
        large = enough
        for some in _some(large, max(plan.at_once // plan.parts, 1)):
            cut = [(one, _cut(source, gold, one, _parts(plan, one))) for one in some]
            # A key that is no key: so many rows of the source have it that no cut makes fewer of them.
            if whole := [one for one, bounds in cut if len(bounds) < MIN_BOUNDS]:
                _compare(source, gold, whole, found)
            stretches = [bounds for _, bounds in cut if len(bounds) >= MIN_BOUNDS]
            if stretches:
                level += _different(source, gold, stretches, None)
            yield found


def _stretches(gold: Copy, plan: Plan, rows: int) -> Iterator[Bounds]:
    """The whole table in stretches, each of them cut into ranges."""
    whole = Range(None, None, 0, rows)
    per_range = -(-plan.first // plan.parts)
    cuts: list[Key] = gold.cuts(whole, -(-rows // per_range)) if rows > per_range else []
    bounds: list[Bound] = [None, *cuts, None]
    for at in range(0, len(bounds) - 1, plan.parts):
        yield tuple(bounds[at : at + plan.parts + 1])


def _different(
    source: Copy, gold: Copy, stretches: Sequence[Bounds], found: Found | None
) -> list[Range]:
    """The ranges of these stretches whose digests differ; their rows are counted in ``found``, if there is one."""
    ranges = []
    both = zip(stretches, source.digests(stretches), gold.digests(stretches), strict=True)
    for bounds, theirs, ours in both:
        pairs = zip(bounds, bounds[1:], theirs, ours, strict=False)
        for low, high, of_source, of_gold in pairs:
            if found is not None:
                found.in_source += of_source.rows
                found.in_gold += of_gold.rows
            if of_source != of_gold:
                ranges.append(Range(low, high, of_source.rows, of_gold.rows))
    return ranges


def _enough(ranges: Sequence[Range], keys: int) -> list[Range]:
    """The first of these ranges that have so many keys that differ, by what their numbers of rows say at least."""
    found: list[Range] = []
    for one in ranges:
        if keys <= 0:
            break
        found.append(one)
        keys -= max(abs(one.in_source - one.in_gold), 1)
    return found


def _parts(plan: Plan, one: Range) -> int:
    """Into how many parts a range is cut: no more than make each small enough to be fetched."""
    return max(min(plan.parts, -(-2 * one.rows // plan.leaf)), MIN_BOUNDS - 1)


def _cut(source: Copy, gold: Copy, one: Range, parts: int) -> Bounds:
    larger = source if one.in_source > one.in_gold else gold
    return (one.low, *larger.cuts(one, parts), one.high)


def _compare(source: Copy, gold: Copy, ranges: Sequence[Range], found: Found) -> None:
    # What only one copy has, differs without a look at the other.
    both = [one for one in ranges if one.in_source]
    theirs = source.hashes(both) if both else {}
    ours = gold.hashes(ranges)
    found.fetched += len(theirs)
    found.repeated += sum(one.in_source + one.in_gold for one in ranges) - len(theirs) - len(ours)
    found.keys += different_keys(theirs, ours)


def different_keys(source: Mapping[Key, int], gold: Mapping[Key, int]) -> list[Key]:
    """The keys that only one copy has, and those whose rows differ."""
    keys = [key for key, hashed in source.items() if gold.get(key) != hashed]
    return keys + [key for key in gold if key not in source]


def _some(ranges: Sequence[Range], number: int) -> Iterator[Sequence[Range]]:
    for at in range(0, len(ranges), number):
        yield ranges[at : at + number]
