"""Full snapshots: which rows of a topic are one, and whether it is known to be complete.

What a complete snapshot does not name is gone. That it is complete is proved and never assumed: its first and its last
row are marked, and no offset between them is missing. A window of silver knows only its own records, so its accounts
keep which stretches of which snapshots it holds; gold puts the stretches of all windows together.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias, cast

from transforms.change import BEHIND_ALL_POINTS, POINT, LogPosition
from transforms.event import (
    CHUNKS,
    DUMP,
    MARKED,
    PART,
    WITHOUT_POINT,
    Event,
    SnapshotKind,
    SnapshotRow,
)
from transforms.record import BronzeRecord
from transforms.silver.changes import Row

STRETCH: Final = "snapshot stretch"
"""How a row is counted that tells the accounts of a stretch of a snapshot, and that silver does not keep."""

MOST_GAPS: Final = 1_000
"""A snapshot with more gaps than this is not put together: it is far from complete."""


class SnapshotKey(NamedTuple):
    """Which rows belong together.

    ``removes_at``: where all is gone that the snapshot does not name; None where each snapshot of a partition has this
    by its first row's offset. ``topic``, ``partition``, ``kind``: as in ``SnapshotRow``.
    """

    removes_at: LogPosition | None
    topic: str
    partition: int
    kind: SnapshotKind = MARKED


@dataclass(slots=True)
class Stretches:
    """The rows of a snapshot that are in one partition.

    ``offsets``: the first and last offset of each stretch without a gap. ``begins``: by the offset of each row that is
    marked as the first of its table, where all is gone that is older; of a snapshot in chunks by 0, directly before the
    first of its rows. ``ends``: the offsets of those marked as the last.
    """

    offsets: list[tuple[int, int]] = field(default_factory=list)
    begins: dict[int, LogPosition] = field(default_factory=dict)
    ends: set[int] = field(default_factory=set)

    def add(self, others: Stretches) -> None:
        """Put more rows of the snapshot to these."""
        self.offsets = _joined([*self.offsets, *others.offsets])
        for offset, position in others.begins.items():
            self.begins[offset] = min(position, self.begins.get(offset, position))
        self.ends |= others.ends


def _joined(offsets: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same offsets in as few stretches as possible, in their order."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(offsets):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return found


Account: TypeAlias = tuple[str, str | None, str, str | None]
"""Window, table, source table and declared table."""


class Collected:
    """The stretches of a batch of records, as they are decoded one after the other."""

    def __init__(self) -> None:
        self._found: dict[tuple[Account, SnapshotKey], Stretches] = {}

    def add(self, event: Event, row: Row) -> None:
        """An event that is a row of a snapshot, and its row of silver."""
        if event.snapshot is None or row.fault is not None or row.log_position is None:
            return
        account = (row.window, row.table, row.source_table, row.declared)
        self.add_row(event.snapshot, account, row.log_position)

    def add_row(self, one: SnapshotRow, account: Account, position: Sequence[int | None]) -> None:
        """A row of a snapshot, whose account this is, and which stands there."""
        key = SnapshotKey(one.removes_at, one.topic, one.partition, one.kind)
        stretches = self._found.setdefault((account, key), Stretches())
        if one.kind in (CHUNKS, WITHOUT_POINT):
            # All that matters of them is where the first one stands.
            own = _directly_before(position)
            stretches.begins = {0: min(own, stretches.begins.get(0, own))}
            return
        offset, known = one.offset, stretches.offsets
        if known and known[-1][1] == offset - 1:
            known[-1] = (known[-1][0], offset)
        elif not known or known[-1] != (offset, offset):
            known.append((offset, offset))
        if one.begins:
            stretches.begins[offset] = one.removes_at or _directly_before(position)
        if one.ends:
            stretches.ends.add(offset)

    def rows(self, record: BronzeRecord) -> list[Row]:
        """A row for each snapshot, which tells the accounts of these stretches; ``record``: one of the batch's."""
        return [
            Row(
                *account,
                derived=STRETCH,
                kept_as=STRETCH,
                facts=_text(key, stretches),
                object=record.object,
                generation=record.generation,
                line=record.line,
                byte_offset=record.byte_offset,
            )
            for (account, key), stretches in self._found.items()
        ]


def _directly_before(position: Sequence[int | None]) -> LogPosition:
    # What silver keeps has all numbers of its position.
    own = cast("LogPosition", tuple(position))
    return (*own[:-1], -1)


def _text(key: SnapshotKey, stretches: Stretches) -> str:
    offsets = _joined(stretches.offsets)
    begins = sorted([offset, [*position]] for offset, position in stretches.begins.items())
    parts = [[*key], offsets if len(offsets) <= MOST_GAPS else [], begins, sorted(stretches.ends)]
    return json.dumps(parts, separators=(",", ":"))


def read(text: str) -> tuple[SnapshotKey, Stretches]:
    """What a text says that ``stretches_in_texts`` or a row of ``Collected`` has."""
    (removes_at, topic, partition, kind), offsets, begins, ends = json.loads(text)
    key = SnapshotKey(None if removes_at is None else tuple(removes_at), topic, partition, kind)
    marked = {offset: tuple(position) for offset, position in begins}
    return key, Stretches([(first, last) for first, last in offsets], marked, set(ends))


def stretches_in_texts(found: Mapping[SnapshotKey, Stretches]) -> list[str]:
    """The stretches of an account's snapshots, each as one text, in a fixed order."""
    return sorted(_text(key, stretches) for key, stretches in found.items())


def has_parts(texts: Iterable[str]) -> bool:
    """Whether an account has rows of a snapshot that is of a part of its table."""
    return any(read(text)[0].kind == PART for text in texts)


def parts_in(texts: Iterable[str]) -> list[LogPosition]:
    """Where the rows of snapshots stand of which nothing says whether all of them have come."""
    keys = (read(text)[0] for text in texts)
    return [key.removes_at for key in keys if key.kind == PART and key.removes_at is not None]


class AtPoint(NamedTuple):
    """A snapshot that has a point in the log, and the first known offset of its rows."""

    removes_at: LogPosition
    topic: str
    partition: int
    offset: int


def with_point_in(texts: Iterable[str]) -> Iterator[AtPoint]:
    """The snapshots of which an account has rows, if they have a point in the log."""
    for key, stretches in map(read, texts):
        if key.kind == MARKED and key.removes_at is not None and stretches.offsets:
            yield AtPoint(key.removes_at, key.topic, key.partition, stretches.offsets[0][0])


def without_point_in(texts: Iterable[str]) -> Iterator[AtPoint]:
    """The log files of which an account has changes without a point, and the first offset of these."""
    for key, stretches in map(read, texts):
        if key.kind == WITHOUT_POINT and key.removes_at is not None:
            offset = stretches.begins[0][POINT] - BEHIND_ALL_POINTS
            yield AtPoint(key.removes_at, key.topic, key.partition, offset)


class Snapshot(NamedTuple):
    """A snapshot of one table: where all is gone that it does not name, and which windows hold it.

    ``is_complete``: whether it is known to name every row.
    """

    removes_at: LogPosition
    windows: frozenset[str]
    is_complete: bool = True


def in_chunks(accounts: Iterable[tuple[str, Sequence[str]]]) -> list[Snapshot]:
    """The snapshots in chunks of one table: each as it begins, and the windows without a gap that have rows of it.

    ``accounts``: each window that has changes of the table, with the texts of its account.
    """
    begun: defaultdict[str, list[LogPosition]] = defaultdict(list)
    for window, texts in accounts:
        begun[window] += [
            position
            for key, stretches in map(read, texts)
            if key.kind == CHUNKS
            for position in stretches.begins.values()
        ]
    found: list[Snapshot] = []
    goes_on = False
    for window, begins in sorted(begun.items()):
        if begins:
            last = found.pop() if goes_on else Snapshot(min(begins), frozenset())
            held = last.windows | {window}
            found.append(Snapshot(min(last.removes_at, *begins), held, is_complete=False))
        goes_on = bool(begins)
    return found


def snapshots_of(
    accounts: Iterable[tuple[str, Sequence[str]]], *, may_be_parted: bool
) -> list[Snapshot]:
    """The snapshots of one whole table, in the order of their positions.

    ``accounts``: each window, with the texts of its account. ``may_be_parted``: whether the rows of a snapshot may
    stand in several partitions: none of the others' records is missing then, since Weir itself reads the topic.
    """
    found: dict[SnapshotKey, Stretches] = {}
    windows: defaultdict[SnapshotKey, set[str]] = defaultdict(set)
    dumps: defaultdict[str, list[SnapshotKey]] = defaultdict(list)
    for window, some in accounts:
        for text in some:
            key, stretches = read(text)
            if key.kind == DUMP:
                dumps[window].append(key)
            elif key.kind == MARKED:
                found.setdefault(key, Stretches()).add(stretches)
                windows[key].add(window)
    parted: defaultdict[tuple[LogPosition | None, str], list[SnapshotKey]] = defaultdict(list)
    for key in found:
        parted[key.removes_at, key.topic].append(key)
    proved: dict[LogPosition, set[str]] = {}
    others: dict[LogPosition, set[str]] = {}
    for keys in parted.values():
        held = set().union(*(windows[key] for key in keys))
        if len(keys) == 1:
            positions = _within_one(found[keys[0]])
        else:
            positions = _over_several([found[key] for key in keys]) if may_be_parted else []
        for position in positions:
            proved.setdefault(position, set()).update(held)
        for position in {position for key in keys for position in _begun(key, found[key])}:
            others.setdefault(position, set()).update(held)
    return sorted(
        [Snapshot(at, frozenset(held)) for at, held in proved.items()]
        + [
            Snapshot(at, frozenset(held), is_complete=False)
            for at, held in others.items()
            if at not in proved
        ]
        + [one for window, keys in dumps.items() for one in _of_dump(window, keys)]
    )


def _of_dump(window: str, keys: Sequence[SnapshotKey]) -> Iterator[Snapshot]:
    """The snapshots that one window's objects are, of a table of which each window has the whole.

    Where objects were written again, the newest of each name are a snapshot of their own, if all of them are newer than
    all that they replace. Else only some were written again, and nothing says which rows of these are gone.
    """
    written: defaultdict[str, list[LogPosition]] = defaultdict(list)
    for key in keys:
        if key.removes_at is not None:
            written[key.topic].append(key.removes_at)
    held = frozenset((window,))
    begins = min(min(some) for some in written.values())
    # Before all objects of the window, also of those that land in it later.
    yield Snapshot(begins[:-1], held)
    replaced = max((at for some in written.values() for at in sorted(some)[:-1]), default=None)
    if replaced is None:
        return
    newest = sorted(max(some) for some in written.values())
    is_whole = replaced < newest[0]
    yield Snapshot(next(at for at in newest if at > replaced), held, is_complete=is_whole)


def _begun(key: SnapshotKey, stretches: Stretches) -> Iterable[LogPosition]:
    """Where snapshots would remove what is older, whether they are complete or not."""
    return stretches.begins.values() if key.removes_at is None else [key.removes_at]


def _within_one(stretches: Stretches) -> list[LogPosition]:
    """Where complete snapshots in one partition remove what is older."""
    found = []
    for end in sorted(stretches.ends):
        begin = max((offset for offset in stretches.begins if offset <= end), default=None)
        if begin is not None and any(
            first <= begin and end <= last for first, last in stretches.offsets
        ):
            found.append(stretches.begins[begin])
    return found


def _over_several(partitions: Sequence[Stretches]) -> list[LogPosition]:
    """The same where several partitions have rows, each without a gap: all but both marks is there then."""
    begins = [position for one in partitions for position in one.begins.values()]
    has_end = any(one.ends for one in partitions)
    is_whole = all(len(one.offsets) == 1 for one in partitions)
    return begins[:1] if has_end and is_whole else []
