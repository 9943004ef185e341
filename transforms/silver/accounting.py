"""The accounting of a window: what became of every source event, per table.

Source events = changes + control + duplicates + quarantined + held + too late, exactly. Derived changes (the delete
half of a key change) are counted apart: they are no events.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple, cast

from transforms.silver import snapshots, trails
from transforms.silver.change_kinds import KINDS, NULL_KEY, SCHEMA, UNDECLARED, WARNINGS
from transforms.silver.changes import DERIVED, KEY_CHANGE
from transforms.silver.snapshots import SnapshotKey, Stretches
from transforms.silver.trails import Point, Trail, TrailKey, Trails

OUTCOMES: Final = ("changes", "control", "duplicates", "quarantined", "held", "too_late")
"""What can become of a source event: these add up to ``events``."""

DUPLICATE, QUARANTINED, TOO_LATE = "duplicates", "quarantined", "too_late"
DERIVED_QUARANTINED: Final = "derived_quarantined"

COUNTS: Final = ("records", "events", *OUTCOMES, "derived", DERIVED_QUARANTINED, "null_keys")
"""The counts of an account, by their columns' names."""

Account = dict[str, Any]
"""One row of the accounting: one window and table, with its ``COUNTS`` and facts."""


class AccountKey(NamedTuple):
    """The account that a row goes to: one per window and table."""

    window: str
    table: str | None
    source_table: str
    declared: str | None


class LogPoint(NamedTuple):
    """Where a row stands in the source's log, and when it was made and read (microseconds since 1970)."""

    epoch: int | None
    segment: int
    made: int | None
    read: int | None


def counted_as(tally: str, derived: str | None, outcome: str | None) -> str | None:
    """The column of ``COUNTS`` in which a row is counted; None for a row that is not counted.

    ``tally``: how the row counts where silver keeps it. ``outcome``: ``DUPLICATE``, ``QUARANTINED``, ``TOO_LATE``, or
    None for a row that silver keeps.
    """
    if outcome is None:
        return tally
    if tally != DERIVED:
        return outcome
    # A derived row of a quarantined event is counted once; the old half of a key change goes with the new one.
    is_counted = outcome != DUPLICATE and derived != KEY_CHANGE
    return DERIVED_QUARANTINED if is_counted else None


class Accounts:
    """The accounts of some rows. They can be written as a text, and added to the accounts of other rows.

    ``left_out``: how many rows there are whose outcome is not known yet. ``open_events``: how many events are part of
    transactions that their window does not hold whole.
    """

    def __init__(self) -> None:
        self._counts: Counter[tuple[AccountKey, str | None, str | None, bool]] = Counter()
        self.left_out = 0
        self.open_events = 0
        self._newest: dict[tuple[AccountKey, int | None, int], tuple[int, int]] = {}
        self._newest_event: dict[AccountKey, int] = {}
        self._warned: defaultdict[tuple[AccountKey, str], list[str]] = defaultdict(list)
        self._warnings: Counter[tuple[AccountKey, str]] = Counter()
        self._streams: defaultdict[AccountKey, set[str]] = defaultdict(set)
        self._first: dict[AccountKey, tuple[int, ...]] = {}
        self._last: dict[AccountKey, tuple[int, ...]] = {}
        self._snapshots: defaultdict[AccountKey, dict[SnapshotKey, Stretches]] = defaultdict(dict)
        self._trails: defaultdict[AccountKey, Trails] = defaultdict(Trails)

    def add(
        self, account_key: AccountKey, count: str | None, facts: str | None, *, is_first: bool
    ) -> None:
        """Count one row; ``facts`` are those of a row that silver keeps."""
        self._counts[account_key, count, facts, is_first] += 1

    def note(self, account_key: AccountKey, moment: LogPoint) -> None:
        """Remember the newest change of each log file, and when it was first read.

        Stored as (made, -read), so that the greatest is the newest change, and of its deliveries the one read first.
        """
        if moment.made is None:
            return
        where = (account_key, moment.epoch, moment.segment)
        seen = (moment.made, -LATEST if moment.read is None else -moment.read)
        if seen > self._newest.get(where, (-LATEST, -LATEST)):
            self._newest[where] = seen

    def note_time(self, account_key: AccountKey, made: int | None) -> None:
        """Remember when the source made the newest change."""
        if made is not None and made > self._newest_event.get(account_key, -LATEST):
            self._newest_event[account_key] = made

    def note_position(self, account_key: AccountKey, log_position: Any, stable: int) -> None:
        """Remember where the oldest and the newest change stand, by what is the same in every delivery of them."""
        position = tuple(log_position[:stable])
        first = self._first.get(account_key)
        if first is None:
            self._first[account_key] = self._last[account_key] = position
        elif position < first:
            self._first[account_key] = position
        elif position > self._last[account_key]:
            self._last[account_key] = position

    def trail_of(
        self, account: tuple[str | None, ...], trail: tuple[int, str | None]
    ) -> Trail | None:
        """The trail of an account's changes, if it has any: both are as in ``note_point``, as plain tuples."""
        of_account = self._trails.get(cast("AccountKey", account))
        return None if of_account is None else of_account.of.get(cast("TrailKey", trail))

    def note_point(self, account_key: AccountKey, trail_key: TrailKey, point: Point) -> None:
        """Remember where a change stands beside its times (``trails``)."""
        self._trails[account_key].add(trail_key, point)

    def add_stretch(self, account_key: AccountKey, text: str) -> None:
        """Remember a stretch of a snapshot (``snapshots.Collected``)."""
        key, stretches = snapshots.read(text)
        self._snapshots[account_key].setdefault(key, Stretches()).add(stretches)

    def warn(self, account_key: AccountKey, word: str, seen: str) -> None:
        """Count a warning that no event gives rise to by itself; ``seen``: what a reader wants to see of it."""
        self._warnings[account_key, word] += 1
        self._show((account_key, word), [seen])

    def _show(self, of: tuple[AccountKey, str], lines: Iterable[str]) -> None:
        shown = self._warned[of]
        shown += lines
        # The same ones, whichever task comes first.
        shown.sort()
        del shown[SHOWN:]

    def add_stream(self, account_key: AccountKey, stream: str) -> None:
        """Remember that a row came from this stream; two are kept, enough to know that there are several."""
        known = self._streams[account_key]
        if stream not in known:
            known.add(stream)
            if len(known) > _SEVERAL:
                known.remove(max(known))

    def text(self) -> str:
        """These accounts as one text, which ``read`` adds to others."""
        counts = [[*key, number] for key, number in self._counts.items()]
        newest = [[*key, *seen] for key, seen in self._newest.items()]
        streams = [[*account_key, sorted(known)] for account_key, known in self._streams.items()]
        times = [[*account_key, made] for account_key, made in self._newest_event.items()]
        warned = [
            [*account_key, word, number, self._warned[account_key, word]]
            for (account_key, word), number in self._warnings.items()
        ]
        ends = [
            [*account_key, [*position]]
            for some in (self._first, self._last)
            for account_key, position in some.items()
        ]
        stretches = [
            [*account_key, snapshots.stretches_in_texts(found)]
            for account_key, found in self._snapshots.items()
        ]
        points = [
            [*account_key, *trail_key, one]
            for account_key, of_account in self._trails.items()
            for trail_key, trail in of_account.of.items()
            for one in trail.points()
        ]
        return json.dumps(
            [
                *(counts, newest, streams, times, warned, ends, stretches, points),
                *(self.left_out, self.open_events),
            ]
        )

    def read(self, text: str) -> None:
        """Add the accounts that ``text`` of another ``Accounts`` gave."""
        counts, newest, streams, times, warned, ends, stretches, points, *left = json.loads(text)
        left_out, open_events = left
        self.left_out += left_out
        self.open_events += open_events
        for account_key, count, facts, is_first, number in counts:
            self._counts[AccountKey(*account_key), count, facts, is_first] += number
        for account_key, epoch, segment, made, minus_read in newest:
            read = None if minus_read == -LATEST else -minus_read
            self.note(AccountKey(*account_key), LogPoint(epoch, segment, made, read))
        for *account_key, word, number, lines in warned:
            self._warnings[AccountKey(*account_key), word] += number
            self._show((AccountKey(*account_key), word), lines)
        for *account_key, made in times:
            self.note_time(AccountKey(*account_key), made)
        for *account_key, position in ends:
            self.note_position(AccountKey(*account_key), position, len(position))
        for *account_key, some in stretches:
            for one in some:
                self.add_stretch(AccountKey(*account_key), one)
        for *account_key, epoch, part, one in points:
            point = Point(tuple(one[0]), *one[1:])
            self.note_point(AccountKey(*account_key), TrailKey(epoch, part), point)
        for *account_key, known in streams:
            for stream in known:
                self.add_stream(AccountKey(*account_key), stream)

    def rows(self) -> list[Account]:
        """One account per window and table, in a fixed order, so that the same events make the same accounts."""
        found: dict[AccountKey, _Account] = defaultdict(_Account)
        for (account_key, count, facts, is_first), number in self._counts.items():
            found[account_key].add(count, facts, number, is_first=is_first)
        for (account_key, epoch, segment), (made, minus_read) in self._newest.items():
            read = None if minus_read == -LATEST else -minus_read
            found[account_key].segments.append((epoch, segment, made, read))
        for (account_key, word), number in self._warnings.items():
            found[account_key].warnings[word] += number
            found[account_key].seen += self._warned[account_key, word]
        for account_key, made in self._newest_event.items():
            found[account_key].newest_event_at = made
        for account_key, known in self._streams.items():
            found[account_key].streams = sorted(known)
        for account_key, position in self._first.items():
            account, last = found[account_key], self._last[account_key]
            # Positions of several streams do not compare, but for epoch and phase.
            size = _EPOCH_AND_PHASE if len(account.streams) > 1 else None
            account.first_position, account.last_position = [*position[:size]], [*last[:size]]
        for account_key, stretches in self._snapshots.items():
            found[account_key].snapshots = snapshots.stretches_in_texts(stretches)
        for account_key, of_account in self._trails.items():
            found[account_key].add_trails(of_account.of)
        ordered = sorted(found, key=lambda one: [part or "" for part in one])
        return [{**account_key._asdict(), **found[account_key].row()} for account_key in ordered]


SHOWN: Final = 10
"""So many of an account's samples are kept of each warning."""

LATEST: Final = 2**63
"""Later than every moment."""

_SEVERAL: Final = 2

_EPOCH_AND_PHASE: Final = 2


class _Account:
    """One account in the making."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.warnings: Counter[str] = Counter()
        self.kinds: set[str] = set()
        self.undeclared: set[str] = set()
        self.schemas: set[str] = set()
        self.segments: list[tuple[int | None, int, int, int | None]] = []
        self.streams: list[str] = []
        self.newest_event_at: int | None = None
        self.seen: list[str] = []
        self.first_position: list[int] | None = None
        self.last_position: list[int] | None = None
        self.snapshots: list[str] = []
        self.trails: list[str] = []
        self.falls: list[str] = []

    def add_trails(self, of_account: Mapping[TrailKey, Trail]) -> None:
        self.trails = sorted(trails.text_of_ends(*one) for one in trails.kept(of_account).items())
        found = ((key, trails.fallen(trail.ends())) for key, trail in of_account.items())
        self.falls = sorted(trails.text_of_fallen(key, one) for key, one in found if one)

    def add(self, count: str | None, facts: str | None, number: int, *, is_first: bool) -> None:
        if count is not None:
            self.counts[count] += number
        if is_first:
            self.counts["records"] += number
        if facts is None:
            return
        noted = json.loads(facts)
        self.kinds.update(noted.get(KINDS, ()))
        self.undeclared.update(noted.get(UNDECLARED, ()))
        if SCHEMA in noted:
            self.schemas.add(json.dumps(noted[SCHEMA]))
        for word in noted.get(WARNINGS, ()):
            self.warnings[word] += number
        if NULL_KEY in noted:
            self.counts["null_keys"] += number

    def row(self) -> Account:
        self.counts["events"] = sum(self.counts[name] for name in OUTCOMES)
        return {
            **{name: self.counts[name] for name in COUNTS},
            "undeclared_columns": sorted(self.undeclared),
            "change_kinds": sorted(self.kinds),
            "streams": self.streams,
            "stream": self.streams[0] if len(self.streams) == 1 else None,
            "segments": sorted(self.segments, key=lambda one: (one[0] or 0, *one[1:3])),
            "newest_event_at": self.newest_event_at,
            "seen": self.seen,
            "first_position": self.first_position,
            "last_position": self.last_position,
            "snapshots": self.snapshots,
            "trails": self.trails,
            "falls": self.falls,
            "warnings": dict(sorted(self.warnings.items())),
            "stream_schemas": [json.loads(text) for text in sorted(self.schemas)],
        }
