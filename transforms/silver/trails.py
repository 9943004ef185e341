"""Positions beside times: what shows that the positions of a source began again, also within one window.

A log that was reset has low positions again while time goes on. A change that is late, or delivered once more, has a
low position and an old time; a transaction that took long has an old time, a high position, and is read late. So a
change has *fallen* where another one was made before it, was read before it, and stands above it all the same. A
single such change is an outlier. A trail keeps of a stream no more than a few changes of each stretch of time: those
that stand highest and those that stand lowest.

Where the source sends no times, its changes are put beside the order in which they came. A change that is read once
more may look fallen, so that somebody has to look whether it is known from another window (``Fallen.events``).
"""

from __future__ import annotations

import hashlib
import heapq
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from transforms.change import POINT, STREAM, is_in_file_by_offset, partition_of
from transforms.silver.changes import CHANGE, Row

MIN_CHANGES: Final = 2
"""Minimum number of changes that stand below as many of those before them: a single one is an outlier."""

TOLERANCE: Final = 300_000_000
"""Of changes that nobody says when they were read, the later has to be made so much later, in microseconds."""

_STRETCHES: Final = 64
_OF_TIME: Final = 20
"""Stretches of time are 2**20 microseconds long, or as many times the double as keeps them few."""


class Point(NamedTuple):
    """A change of a trail: its position without the epoch, and its times in microseconds since 1970.

    ``made`` is None where the source sends no times, and ``read`` where nobody says it; in place of both ``at`` is
    where the change stands in its object. ``event_id``: as in silver.
    """

    position: tuple[int, ...]
    made: int | None
    read: int | None
    at: int
    event_id: str

    @property
    def clock(self) -> int:
        """What orders the changes of a trail."""
        if self.made is not None:
            return self.made
        return self.at if self.read is None else self.read


class TrailKey(NamedTuple):
    """What positions compare within: an epoch, and a part of the source (a partition, a tablet), if it has parts."""

    epoch: int
    part: str | None


@dataclass(slots=True)
class Trail:
    """The changes of one part of a source that stand highest and lowest in each stretch of time."""

    width: int = _OF_TIME
    stretches: dict[int, tuple[list[Point], list[Point]]] = field(default_factory=dict)

    def has_between(self, clock: int, position: Sequence[int | None]) -> bool:
        """Whether a change stands between those of its stretch, so that it is not kept, however often it comes."""
        found = self.stretches.get(clock >> self.width)
        if found is None:
            return False
        highest, lowest = found
        is_full = len(highest) == MIN_CHANGES == len(lowest)
        return is_full and lowest[-1].position < tuple(position) < highest[-1].position

    def add(self, point: Point) -> None:
        """Put a change to these."""
        found = self.stretches.get(point.clock >> self.width)
        if found is None:
            self.stretches[point.clock >> self.width] = ([], [])
            while len(self.stretches) > _STRETCHES:
                self._widen()
            found = self.stretches[point.clock >> self.width]
        highest, lowest = found
        if len(highest) < MIN_CHANGES or point.position >= highest[-1].position:
            highest[:] = _best([*highest, point], largest=True)
        if len(lowest) < MIN_CHANGES or point.position <= lowest[-1].position:
            lowest[:] = _best([*lowest, point], largest=False)

    def _widen(self) -> None:
        old, self.stretches = self.stretches, {}
        self.width += 1
        for number, (highest, lowest) in old.items():
            high, low = self.stretches.setdefault(number >> 1, ([], []))
            high[:] = _best([*high, *highest], largest=True)
            low[:] = _best([*low, *lowest], largest=False)

    def points(self) -> set[Point]:
        """All changes that it keeps, each once."""
        return {one for pair in self.stretches.values() for some in pair for one in some}

    def ends(self) -> Ends:
        """All changes that it keeps."""
        pairs = self.stretches.values()
        return Ends(
            [one for highest, _ in pairs for one in highest],
            [one for _, lowest in pairs for one in lowest],
        )


def _best(points: Iterable[Point], *, largest: bool) -> list[Point]:
    """The few that stand highest, or lowest, each with a clock of its own; the best one first."""
    of_clock: dict[int, Point] = {}
    for one in points:
        known = of_clock.get(one.clock)
        if known is None or (_standing(one) > _standing(known)) == largest:
            of_clock[one.clock] = one
    pick = heapq.nlargest if largest else heapq.nsmallest
    return pick(MIN_CHANGES, of_clock.values(), key=_standing)


def _standing(point: Point) -> tuple[tuple[int, ...], int, int, str]:
    """What puts changes in order, also such as stand at one position: always the same of them are kept."""
    read = -1 if point.read is None else point.read
    return point.position, point.clock, read, point.event_id


def outermost(
    trail: Trail | None, clocks: NDArray[np.int64], positions: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The places of those of many changes that a trail may keep of all of them, once each has been added.

    Of each clock these are the changes that stand highest and lowest, and of each stretch of time those of the clocks
    whose changes stand highest, or lowest, among these.
    """
    if len(clocks) <= 2 * MIN_CHANGES:
        return np.arange(len(clocks))
    stretches = clocks >> _width_with(trail, clocks)
    ranks = _ranks(positions)
    order = np.lexsort((ranks, clocks))
    firsts = np.flatnonzero(np.diff(clocks[order], prepend=clocks[order[0]] - 1))
    kept = np.zeros(len(clocks), np.bool_)
    for sign, pick in ((1, np.minimum), (-1, np.maximum)):
        best = pick.reduceat(ranks[order], firsts)
        # The same for every change of a clock.
        of_clock = np.repeat(best, np.diff([*firsts, len(order)]))
        limits = _limits(stretches[order[firsts]], sign * best)
        of_stretch = np.repeat(limits, np.diff([*firsts, len(order)]))
        kept[order] |= (ranks[order] == of_clock) & (sign * ranks[order] <= of_stretch)
    return np.flatnonzero(kept)


def _width_with(trail: Trail | None, clocks: NDArray[np.int64]) -> int:
    """How wide a trail's stretches are once changes of these times are among its own."""
    width = _OF_TIME if trail is None else trail.width
    numbers = np.unique(clocks >> width)
    if trail is not None:
        numbers = np.unique(np.concatenate((numbers, np.array([*trail.stretches], np.int64))))
    while len(numbers) > _STRETCHES:
        numbers, width = np.unique(numbers >> 1), width + 1
    return width


def _ranks(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers that stand in the order of rows of numbers, the same for equal rows."""
    order = np.lexsort(rows.T[::-1]) if rows.shape[1] else np.arange(len(rows))
    is_other = (rows[order[1:]] != rows[order[:-1]]).any(axis=1)
    ranks = np.empty(len(rows), np.int64)
    ranks[order] = np.concatenate(([0], np.cumsum(is_other)))
    return ranks


def _limits(stretches: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each value the largest of the few least ones of its stretch; stretches come in their order."""
    order = np.lexsort((values, stretches))
    starts = np.flatnonzero(np.diff(stretches, prepend=stretches[0] - 1))
    counts = np.diff([*starts, len(stretches)])
    limits = values[order[starts + np.minimum(counts, MIN_CHANGES) - 1]]
    return np.repeat(limits, counts)


class Trails:
    """The trails of one account, of ``MOST_PARTS`` parts of the source at most, always the same ones."""

    __slots__ = ("_last", "of")

    def __init__(self) -> None:
        self.of: dict[TrailKey, Trail] = {}
        self._last = ""

    def add(self, key: TrailKey, point: Point) -> None:
        """Put a change to those of its part."""
        trail = self.of.get(key)
        if trail is None:
            if len(self.of) >= MOST_PARTS and not self._makes_room(key):
                return
            # Places in an object are no times: each has a stretch of its own at first.
            has_time = point.made is not None or point.read is not None
            trail = self.of[key] = Trail(_OF_TIME if has_time else 0)
        trail.add(point)

    def _makes_room(self, key: TrailKey) -> bool:
        """Whether a part is to be kept in place of another one; which are is drawn by lot."""
        if self._last and _lot(key) > self._last:
            return False
        last = max(self.of, key=_lot)
        self._last = _lot(last)
        if _lot(key) > self._last:
            return False
        del self.of[last]
        self._last = ""
        return True


MOST_PARTS: Final = 1_000


def _lot(key: TrailKey) -> str:
    return hashlib.md5(repr(key).encode(), usedforsecurity=False).hexdigest()


class Ends(NamedTuple):
    """The changes that stand highest, and those that stand lowest, of some stretches of time."""

    highest: Sequence[Point]
    lowest: Sequence[Point]

    def reduced(self) -> Ends:
        """Those of all stretches together."""
        return Ends(_best(self.highest, largest=True), _best(self.lowest, largest=False))


class Fallen(NamedTuple):
    """Changes that stand below such as were made and read before them.

    ``events``: some of them, in the order of their clocks: id, clock and position. ``before``: the newest clock of
    those that stand above them. ``is_timed``: whether the source says when it made them; ``has_times``: whether the
    clocks are times at all, and not line numbers in an object.
    """

    events: Sequence[tuple[str, int, tuple[int, ...]]]
    before: int
    is_timed: bool
    has_times: bool

    def without(self, known: Collection[str]) -> Fallen | None:
        """The same without the events that came before; None where too few are left."""
        left = [one for one in self.events if one[0] not in known]
        return self._replace(events=left) if len(left) >= MIN_CHANGES else None


def fallen(ends: Ends) -> Fallen | None:
    """The changes that have fallen, where they are not too few."""
    found: list[Point] = []
    above: set[Point] = set()
    if not _may_fall(ends):
        return None
    for low in sorted(ends.lowest, key=lambda one: one.clock):
        higher = [one for one in ends.highest if _falls(one, low)]
        if len({one.clock for one in higher}) >= MIN_CHANGES:
            found.append(low)
            above.update(higher)
    if len({one.clock for one in found}) < MIN_CHANGES:
        return None
    return Fallen(
        _events(found),
        max(one.clock for one in above),
        found[0].made is not None,
        found[0].made is not None or found[0].read is not None,
    )


def _may_fall(ends: Ends) -> bool:
    """Whether any change stands below one with an earlier clock: seldom, and quickly asked."""
    top: tuple[int, ...] = ()
    points = [*((one.clock, 1, one) for one in ends.highest)]
    points += [(one.clock, 0, one) for one in ends.lowest]
    points.sort(key=lambda one: one[:2])
    for _, is_high, one in points:
        if is_high:
            top = max(top, one.position)
        elif one.position < top:
            return True
    return False


def _falls(before: Point, after: Point) -> bool:
    if before.position <= after.position or before.clock >= after.clock:
        return False
    if before.made is None or after.made is None:
        return before.made is after.made
    if before.read is None or after.read is None:
        return after.made - before.made > TOLERANCE
    return before.read < after.read


def point_of(row: Row, arrives_by: str | None) -> tuple[TrailKey, Point] | None:
    """Where a row of silver stands, and in which trail; None for a row that says nothing of the log's order.

    ``arrives_by``: as in ``SourceFormat``.
    """
    position: Any = row.log_position
    of_one = row.kept_as == CHANGE and row.operation != "read" and row.scope is None
    if not of_one or len(position) < SHORTEST or position[1] != STREAM:
        return None
    # Within a log file offsets always rise, and what is sent again has the old time at a new one.
    stable = tuple(position[1 : POINT if is_in_file_by_offset(position) else row.dedup_prefix])
    made, read = row.event_at, row.extracted_at
    epoch, part = part_of_source(row, position)
    if arrives_by is not None:
        made = None
        part = (row.after or row.before).get(arrives_by)
        if read is None:
            part = f"{part} in {row.object} ({row.generation})"
    elif made is None:
        return None
    at = row.byte_offset if made is None and read is None else 0
    point = Point(stable, made, read, at, row.event_id or "")
    return TrailKey(epoch, part), point


def part_of_source(row: Row, position: Sequence[int | None]) -> tuple[Any, str | None]:
    """The parts of a ``TrailKey``: of a position by offset the part is its partition."""
    number = partition_of(position)  # type: ignore[arg-type]
    return position[0], row.stream if number is None else str(number)


SHORTEST: Final = 3

_NEVER: Final[tuple[Any, TrailKey, Point]] = (None, TrailKey(0, None), Point((), None, None, 0, ""))
"""In place of an event that was not told of yet."""


class Deliveries:
    """The trail's points of events that may be delivered several times, of which the one that was read first counts.

    Rows are told in the order of their sort keys: all deliveries of an event agree in the stable part of its position.
    """

    def __init__(self) -> None:
        self._of: tuple[bytes, tuple[int, ...]] | None = None
        self._points: dict[str, tuple[Any, TrailKey, Point] | None] = {}

    def add(
        self, group: bytes, account: Any, key: TrailKey, point: Point
    ) -> Iterable[tuple[Any, TrailKey, Point]]:
        """Take a delivery; returns the points of the events that have no other delivery to come."""
        of = (group, point.position)
        done: Iterable[tuple[Any, TrailKey, Point]] = ()
        if of != self._of:
            done, self._points, self._of = self.rest(), {}, of
        one, known = point.event_id, self._points.get(point.event_id, _NEVER)
        if known is _NEVER:
            self._points[one] = (account, key, point)
        elif known is not None and known[1] != key:
            # Two objects without times have it, and nobody knows which of them came first.
            self._points[one] = None
        elif known is not None and _read(point) < _read(known[2]):
            self._points[one] = (account, key, point)
        return done

    def rest(self) -> list[tuple[Any, TrailKey, Point]]:
        """The points of the events that were told last."""
        return [one for one in self._points.values() if one is not None]


def kept(trails: Mapping[TrailKey, Trail]) -> dict[TrailKey, Ends]:
    """What later windows need to know of an account's trails: the ends of all stretches together.

    Of a source without times, parts stand together, for there are as many as predicates.
    """
    found: dict[TrailKey, Ends] = {}
    for key, trail in trails.items():
        ends = trail.ends().reduced()
        one = ends.highest[0]
        if one.made is not None:
            found[key] = ends
        elif one.read is not None:
            of_all = TrailKey(key.epoch, None)
            known = found.get(of_all, Ends((), ()))
            together = Ends([*known.highest, *ends.highest], [*known.lowest, *ends.lowest])
            found[of_all] = together.reduced()
    return found


def _read(point: Point) -> tuple[int, ...]:
    return (point.at,) if point.read is None else (point.read, point.at)


def text_of_ends(key: TrailKey, ends: Ends) -> str:
    """A part's ends as a text; only of those that may have fallen somebody asks which they are."""
    highest = [[*one._replace(event_id="")] for one in ends.highest]
    return json.dumps([*key, highest, [[*one] for one in ends.lowest]], separators=(",", ":"))


def read_ends(text: str) -> tuple[TrailKey, Ends]:
    """What a text says that ``text_of_ends`` gave."""
    epoch, part, *ends = json.loads(text)
    highest, lowest = ([Point(tuple(one[0]), *one[1:]) for one in some] for some in ends)
    return TrailKey(epoch, part), Ends(highest, lowest)


def text_of_fallen(key: TrailKey, found: Fallen) -> str:
    """Fallen changes of a part as a text."""
    return json.dumps([*key, *found], separators=(",", ":"))


def read_fallen(text: str) -> tuple[TrailKey, Fallen]:
    """What a text says that ``text_of_fallen`` gave."""
    epoch, part, events, *others = json.loads(text)
    some = [(name, clock, tuple(position)) for name, clock, position in events]
    return TrailKey(epoch, part), Fallen(some, *others)


def below(
    row: Mapping[str, Any], before: Sequence[Mapping[str, Any]]
) -> list[tuple[TrailKey, Fallen]]:
    """The changes of an account that have fallen below those of windows before it, by the part that they are of.

    ``before``: the accounts of the table in these windows.
    """
    if not row["trails"] or _stands_above(row, before):
        return []
    known: dict[TrailKey, list[Ends]] = {}
    for one in before[-RECENT:]:
        for text in one["trails"]:
            key, ends = read_ends(text)
            known.setdefault(key, []).append(ends)
    found = []
    for text in row["trails"]:
        key, ends = read_ends(text)
        fell = (_fallen_below(some, ends) for some in reversed(known.get(key, [])))
        some = next((one for one in fell if one is not None), None)
        if some is not None:
            found.append((key, some))
    return found


RECENT: Final = 50
"""Maximum number of accounts before it that an account is compared to."""


def _stands_above(row: Mapping[str, Any], before: Iterable[Mapping[str, Any]]) -> bool:
    """Whether first and last positions already say that no change of the account stands below others."""
    # Of a window with nothing but what was compacted there is no first position.
    first: Sequence[int] = row["first_position"] or ()
    if len(first) < SHORTEST or partition_of(first) is not None or row["stream"] is not None:
        return False
    lasts = (one["last_position"] for one in before)
    return all(last <= first or last[0] != first[0] for last in lasts if last)


def _fallen_below(before: Ends, ends: Ends) -> Fallen | None:
    if ends.lowest[0].made is not None:
        return fallen(Ends(before.highest, ends.lowest))
    # A part of a cluster may lag behind another: only a window that is wholly below another one is no such part.
    is_below = ends.highest[0].position < before.lowest[-1].position
    newest = max(one.clock for one in (*before.highest, *before.lowest))
    if not is_below or min(one.clock for one in ends.lowest) <= newest:
        return None
    return Fallen(_events(ends.lowest), newest, is_timed=False, has_times=True)


def _events(points: Iterable[Point]) -> list[tuple[str, int, tuple[int, ...]]]:
    in_order = sorted(points, key=lambda one: one.clock)
    return [(one.event_id, one.clock, one.position) for one in in_order]
