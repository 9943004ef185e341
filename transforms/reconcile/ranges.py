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


class Incomparable(Exception):
    """One table that cannot be compared; the text says why."""


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


class SourceCopy(Copy, Protocol):
    """The copy that a live server has, of which no more is asked than has to be."""

    @property
    def is_indexed(self) -> bool:
        """Whether a range of keys can be read without reading the whole table."""

    def without_key(self, low: Bound, high: Bound) -> int | None:
        """How many rows have no key, for there is a null in it, so that they are in no range; None: nobody was asked.

        Of all such rows those whose key's first column stands in a stretch; where that is null, they are of the stretch
        that is open below.
        """

    def can_hold(self, key: Key) -> bool:
        """Whether a row of it could have this key; where none could, the server may not even take the question."""


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
    how many rows there are. ``fetched``: of how many rows of the source the key was fetched. ``read``: how many rows
    the source was asked to read, one as often as it was. ``repeated``: how many rows, of either copy, have a key that
    another row of it has, too; of them nothing is known. ``keyless``: how many rows of the source have no key.
    """

    keys: list[Key] = field(default_factory=list)
    is_whole: bool = True
    in_source: int = 0
    in_gold: int = 0
    fetched: int = 0
    read: int = 0
    repeated: int = 0
    keyless: int = 0


def differing(source: SourceCopy, gold: Copy, plan: Plan, rows: int) -> Iterator[Found]:
    """The keys whose rows differ between the copies; ``rows``: how many gold has.

    After every question to the source, what is found so far is given: it is always the same object.

    Raises:
        Incomparable: the copies do not order their keys alike.
    """
    found = Found()
    level: list[Range] = []
    for bounds in _stretches(source, gold, plan, rows):
        before = found.in_source
        level += _different(source, gold, [bounds], found, is_first=True)
        yield found
        keyless = source.without_key(bounds[0], bounds[-1])
        if keyless is not None:
            found.keyless += keyless
            _count(source, found.in_source - before + keyless, found)
            yield found
    levels = _most_levels(level)
    while level:
        levels -= 1
        if levels < 0:
            raise Incomparable(_OTHERWISE)
        large = [one for one in level if one.rows > plan.leaf]
        small = [one for one in level if one.rows <= plan.leaf]
        level = []
        enough = _enough(small, plan.most - len(found.keys))
        found.is_whole = found.is_whole and len(enough) == len(small)
        for some in _some(enough, plan.at_once):
            if len(found.keys) >= plan.most:
                found.is_whole = False
                return
            _compare(source, gold, some, plan, found)
            yield found
        enough = _enough(large, plan.most - len(found.keys))
        found.is_whole = found.is_whole and len(enough) == len(large)
        for some in _some(enough, max(plan.at_once // plan.parts, 1)):
            cut = []
            for one in some:
                cut.append((one, _cut(source, gold, one, _parts(plan, one), found)))
                yield found
            # A key that is no key: so many rows of the source have it that no cut makes fewer of them. Or gold has
            # many that the source could not hold.
            if whole := [one for one, bounds in cut if len(bounds) < MIN_BOUNDS]:
                _compare(source, gold, whole, plan, found)
            stretches = [bounds for _, bounds in cut if len(bounds) >= MIN_BOUNDS]
            if stretches:
                level += _different(source, gold, stretches, found, is_first=False)
            yield found


_OTHERWISE: Final = "the source orders its keys otherwise than gold does, so that no range has the same rows of both"


def _most_levels(ranges: Sequence[Range]) -> int:
    """In how many levels ranges are small, however unlike the copies are.

    Each level cuts the copy that has more into two parts at least. The other one may stay whole, and is cut in the next
    level, so that two of them halve a range; and there are some to spare, for keys that no cut is made at.
    """
    return 4 * max((one.rows for one in ranges), default=0).bit_length() + 8


def _stretches(source: SourceCopy, gold: Copy, plan: Plan, rows: int) -> Iterator[Bounds]:
    """The whole table in stretches, each of them cut into ranges."""
    whole = Range(None, None, 0, rows)
    per_range = -(-plan.first // plan.parts)
    cuts = _shared_cuts(source, gold, whole, -(-rows // per_range)) if rows > per_range else []
    bounds: list[Bound] = [None, *cuts, None]
    for at in range(0, len(bounds) - 1, plan.parts):
        yield tuple(bounds[at : at + plan.parts + 1])


def _shared_cuts(source: SourceCopy, gold: Copy, one: Range, parts: int) -> list[Key]:
    """Gold's cuts of a range, so far as the source can compare its keys with them."""
    return [key for key in gold.cuts(one, parts) if source.can_hold(key)]


def _different(
    source: SourceCopy,
    gold: Copy,
    stretches: Sequence[Bounds],
    found: Found,
    *,
    is_first: bool,
) -> list[Range]:
    """The ranges of these stretches whose digests differ; at first, all rows are counted."""
    ranges, read = [], 0
    both = zip(stretches, source.digests(stretches), gold.digests(stretches), strict=True)
    for bounds, theirs, ours in both:
        pairs = zip(bounds, bounds[1:], theirs, ours, strict=False)
        for low, high, of_source, of_gold in pairs:
            if of_gold.rows < 0:
                raise Incomparable(_OTHERWISE)
            read += of_source.rows
            if is_first:
                found.in_source += of_source.rows
                found.in_gold += of_gold.rows
            if of_source != of_gold:
                ranges.append(Range(low, high, of_source.rows, of_gold.rows))
    _count(source, read, found)
    return ranges


def _count(source: SourceCopy, rows: int, found: Found) -> None:
    """One question more was asked that was about so many rows."""
    found.read += rows if source.is_indexed else found.in_source


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


def _cut(source: SourceCopy, gold: Copy, one: Range, parts: int, found: Found) -> Bounds:
    ours = _shared_cuts(source, gold, one, parts) if one.in_source <= one.in_gold else []
    if ours or not one.in_source:
        return (one.low, *ours, one.high)
    _count(source, one.in_source, found)
    return (one.low, *source.cuts(one, parts), one.high)


def _compare(
    source: SourceCopy, gold: Copy, ranges: Sequence[Range], plan: Plan, found: Found
) -> None:
    # What only one copy has, differs without a look at the other.
    both = [one for one in ranges if one.in_source]
    theirs = source.hashes(both) if both else {}
    ours = gold.hashes(ranges)
    if both:
        _count(source, sum(one.in_source for one in both), found)
    found.fetched += len(theirs)
    found.repeated += sum(one.in_source + one.in_gold for one in ranges) - len(theirs) - len(ours)
    found.keys += different_keys(theirs, ours)
    if len(found.keys) > plan.most:
        # Each range may have as many as it has rows.
        del found.keys[plan.most :]
        found.is_whole = False


def different_keys(source: Mapping[Key, int], gold: Mapping[Key, int]) -> list[Key]:
    """The keys that only one copy has, and those whose rows differ."""
    keys = [key for key, hashed in source.items() if gold.get(key) != hashed]
    return keys + [key for key in gold if key not in source]


def _some(ranges: Sequence[Range], number: int) -> Iterator[Sequence[Range]]:
    for at in range(0, len(ranges), number):
        yield ranges[at : at + number]
