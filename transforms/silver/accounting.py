"""The accounting of a window: what became of every source event, per table.

Source events = changes + control + duplicates + quarantined + held + too late + erased, exactly. Derived changes (the
delete half of a key change) are counted apart: they are no events.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from transforms.silver import snapshots, trails
from transforms.silver.change_kinds import KINDS, NULL_KEY, SCHEMA, UNDECLARED, WARNINGS
from transforms.silver.changes import DERIVED, ERASED, KEY_CHANGE
from transforms.silver.snapshots import SnapshotKey, Stretches
from transforms.silver.trails import Trails

OUTCOMES: Final = (
    *("changes", "control", "duplicates", "quarantined", "held", "too_late"),
    ERASED,
)
"""What can become of a source event: these add up to ``events``."""

DUPLICATE, QUARANTINED, TOO_LATE = "duplicates", "quarantined", "too_late"
DERIVED_QUARANTINED: Final = "derived_quarantined"

LANDED_AGAIN: Final = "erased_landed_again"
"""What events of erased keys that bronze holds (again) are counted as among an account's warnings."""

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


def counted_as(kept_as: str, derived: str | None, outcome: str | None) -> str | None:
    """The column of ``COUNTS`` in which a row is counted; None for a row that is not counted.

    ``kept_as``: as in ``Row``. ``outcome``: None for a row that silver keeps.
    """
    if outcome is None:
        return kept_as
    if kept_as != DERIVED:
        return outcome
    # A derived row of a quarantined event is counted once; the old half of a key change goes with the new one.
    is_counted = outcome not in (DUPLICATE, ERASED) and derived != KEY_CHANGE
    return DERIVED_QUARANTINED if is_counted else None


class Accounts:
    """The accounts of some rows, which can be pickled, and added to those of other rows.

    ``left_out``: how many rows there are whose outcome is not known yet. ``open_events``: how many events are part of
    transactions that their window does not hold whole.
    """

    def __init__(self) -> None:
        self.of: defaultdict[AccountKey, AccountSums] = defaultdict(AccountSums)
        self.left_out = 0
        self.open_events = 0

    def add(self, others: Accounts) -> None:
        """Add those of other rows."""
        self.left_out += others.left_out
        self.open_events += others.open_events
        for account_key, sums in others.of.items():
            self.of[account_key].add(sums)

    def rows(self) -> list[Account]:
        """One account per window and table, in a fixed order, so that the same events make the same accounts."""
        ordered = sorted(self.of, key=lambda one: [part or "" for part in one])
        return [{**account_key._asdict(), **self.of[account_key].row()} for account_key in ordered]


SHOWN: Final = 10
"""Maximum number of an account's samples."""

LATEST: Final = 2**63
"""Later than every moment."""

_SEVERAL: Final = 2
"""Maximum number of an account's streams: enough to know that there are several."""

_EPOCH_AND_PHASE: Final = 2


class AccountSums:
    """One account in the making."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str | None, str | None, bool]] = Counter()
        self.segments: dict[tuple[int | None, int], tuple[int, int]] = {}
        self.newest_event_at: int | None = None
        self.first: tuple[int, ...] | None = None
        self.last: tuple[int, ...] = ()
        self.streams: set[str] = set()
        self.snapshots: dict[SnapshotKey, Stretches] = {}
        self.trails = Trails()
        self.warnings: Counter[str] = Counter()
        self.seen: list[str] = []

    def count(self, count: str | None, facts: str | None, *, is_first: bool) -> None:
        """Count one row; ``facts`` are those of a row that silver keeps."""
        self.counts[count, facts, is_first] += 1

    def note_segment(
        self, epoch: int | None, segment: int, made: int | None, read: int | None
    ) -> None:
        """Remember the newest change of each log file, and when it was first read.

        Stored as (made, -read), so that the greatest is the newest change, and of its deliveries the one read first.
        """
        if made is not None:
            seen = (made, -LATEST if read is None else -read)
            self.segments[epoch, segment] = max(seen, self.segments.get((epoch, segment), seen))

    def note_time(self, made: int | None) -> None:
        """Remember when the source made the newest change."""
        if made is not None and (self.newest_event_at is None or made > self.newest_event_at):
            self.newest_event_at = made

    def note_position(self, position: tuple[int, ...]) -> None:
        """Remember where the oldest and the newest change stand, by what is the same in every delivery of them."""
        if self.first is None:
            self.first = self.last = position
        elif position < self.first:
            self.first = position
        elif position > self.last:
            self.last = position

    def note_stream(self, stream: str) -> None:
        """Remember that a row came from this stream."""
        if stream not in self.streams:
            self.streams.add(stream)
            if len(self.streams) > _SEVERAL:
                self.streams.remove(max(self.streams))

    def note_stretches(self, key: SnapshotKey, stretches: Stretches) -> None:
        """Remember stretches of a snapshot."""
        self.snapshots.setdefault(key, Stretches()).add(stretches)

    def warn(self, word: str, seen: str) -> None:
        """Count a warning that no event gives rise to by itself; ``seen``: what a reader wants to see of it."""
        self.warnings[word] += 1
        self._show([seen])

    def _show(self, lines: Iterable[str]) -> None:
        # The same ones, whichever task comes first.
        self.seen = sorted([*self.seen, *lines])[:SHOWN]

    def add(self, others: AccountSums) -> None:
        """Add those of other rows."""
        self.counts.update(others.counts)
        for where, seen in others.segments.items():
            self.segments[where] = max(seen, self.segments.get(where, seen))
        self.note_time(others.newest_event_at)
        if others.first is not None:
            self.note_position(others.first)
            self.note_position(others.last)
        for stream in others.streams:
            self.note_stream(stream)
        for snapshot_key, stretches in others.snapshots.items():
            self.note_stretches(snapshot_key, stretches)
        for trail_key, trail in others.trails.of.items():
            for point in trail.points():
                self.trails.add(trail_key, point)
        self.warnings.update(others.warnings)
        self._show(others.seen)

    def row(self) -> Account:
        """The account, but for the parts of its key."""
        counts, warnings = Counter[str](), self.warnings.copy()
        kinds, undeclared, schemas = set[str](), set[str](), set[str]()
        for (count, facts, is_first), number in self.counts.items():
            if count is not None:
                counts[count] += number
            if is_first:
                counts["records"] += number
            noted = {} if facts is None else json.loads(facts)
            kinds.update(noted.get(KINDS, ()))
            undeclared.update(noted.get(UNDECLARED, ()))
            if SCHEMA in noted:
                schemas.add(json.dumps(noted[SCHEMA]))
            for word in noted.get(WARNINGS, ()):
                warnings[word] += number
            if NULL_KEY in noted:
                counts["null_keys"] += number
        counts["events"] = sum(counts[name] for name in OUTCOMES)
        streams = sorted(self.streams)
        # Positions of several streams do not compare, but for epoch and phase.
        size = _EPOCH_AND_PHASE if len(streams) > 1 else None
        falls = ((key, trails.fallen(trail.ends())) for key, trail in self.trails.of.items())
        return {
            **{name: counts[name] for name in COUNTS},
            "undeclared_columns": sorted(undeclared),
            "change_kinds": sorted(kinds),
            "streams": streams,
            "stream": streams[0] if len(streams) == 1 else None,
            "segments": sorted(
                (
                    (epoch, segment, made, None if minus_read == -LATEST else -minus_read)
                    for (epoch, segment), (made, minus_read) in self.segments.items()
                ),
                key=lambda one: (one[0] or 0, *one[1:3]),
            ),
            "newest_event_at": self.newest_event_at,
            "seen": self.seen,
            "first_position": None if self.first is None else [*self.first[:size]],
            "last_position": None if self.first is None else [*self.last[:size]],
            "snapshots": snapshots.stretches_in_texts(self.snapshots),
            "trails": sorted(
                trails.text_of_ends(*one) for one in trails.kept(self.trails.of).items()
            ),
            "falls": sorted(trails.text_of_fallen(key, one) for key, one in falls if one),
            "warnings": dict(sorted(warnings.items())),
            "stream_schemas": [json.loads(text) for text in sorted(schemas)],
        }
