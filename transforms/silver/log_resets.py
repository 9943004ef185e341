"""Positions that begin again, and snapshots that nothing puts in order, as accounts show them.

The positions of a log that was reset are low again while time goes on, so that new changes would stand before old ones.
A late drop and a second delivery have low positions, too, but old times.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

from transforms.change import SNAPSHOT, STREAM, LogPosition, partition_of
from transforms.moments import microseconds_of, moment_of
from transforms.silver import snapshots, trails
from transforms.silver.accounting import LATEST, Account
from transforms.silver.trails import MIN_CHANGES, Fallen


def falls(accounts: Iterable[Mapping[str, Any]]) -> list[Account]:
    """One entry for each log file whose newest change was made, and read, before a change of a lower-numbered file.

    Its keys: ``table``, ``epoch``, ``segment`` (the log file's number), ``newest`` (the time of the file's newest
    change) and ``newest_before`` (the newest time in files with lower numbers). Of all log files of the table:
    ``begins``, from which time on changes are of the new log, and ``window``, the first that has any; ``declared``: the
    feed file's name of the table. Times are in UTC.

    A log that was reset starts with low numbers again while time goes on: the order of events is then unknown. Both
    times must fall. A statement that began before its log file did is a little older than the file before it says, but
    is read after that; a file that is delivered again is read later, but its changes are as old as they were.
    """
    newest: dict[tuple[str, int], dict[int, tuple[int, int]]] = defaultdict(dict)
    accounts = [*accounts]
    for account in accounts:
        for epoch, segment, made, read in _segments_of(account):
            of_log = newest[account["table"] or "", epoch]
            seen = (made, -LATEST if read is None else -read)
            of_log[segment] = max(seen, of_log.get(segment, seen))
    found = []
    for (table, epoch), of_log in sorted(newest.items()):
        fallen = _falls_of_log(table, epoch, sorted(of_log.items()))
        if fallen:
            ended = max(fall["newest"] for fall in fallen)
            window, declared = _new_log(accounts, table, epoch, ended)
            begins = {"begins": ended + 1, "window": window, "declared": declared}
            found += [{**fall, **begins} for fall in fallen]
    times = ("newest", "newest_before", "begins")
    return [{**fall, **{name: moment_of(fall[name]) for name in times}} for fall in found]


def _segments_of(account: Mapping[str, Any]) -> Iterator[tuple[int, int, int, int | None]]:
    """Epoch and number of each log file, and its times in microseconds since 1970."""
    for one in account["segments"]:
        made, read = (microseconds_of(one[name]) for name in ("event_at", "extracted_at"))
        assert made is not None  # else nothing is known of the file
        yield one["epoch"] or 0, one["segment"], made, read


def _new_log(
    accounts: Iterable[Mapping[str, Any]], table: str, epoch: int, ended: int
) -> tuple[str, str | None]:
    """The first window with changes of a log that began when another one had ended, and the table's declared name."""
    return min(
        (str(account["window"]), account["declared"])
        for account in accounts
        if (account["table"] or "") == table
        and any(of == epoch and made > ended for of, _, made, _ in _segments_of(account))
    )


def _falls_of_log(
    table: str, epoch: int, files: Sequence[tuple[int, tuple[int, int]]]
) -> list[Account]:
    found: list[Account] = []
    made_before: int | None = None
    read_before: int | None = None
    for segment, (made, unread) in files:
        read = None if unread == -LATEST else -unread
        read_falls = read is None or read_before is None or read < read_before
        if made_before is not None and made < made_before and read_falls:
            log_file = {"table": table, "epoch": epoch, "segment": segment}
            found.append({**log_file, "newest": made, "newest_before": made_before})
        made_before = made if made_before is None else max(made_before, made)
        if read is not None:
            read_before = read if read_before is None else max(read_before, read)
    return found


class Restart(NamedTuple):
    """A window in which the positions of a table began again.

    ``table``, ``declared``: gold's name and the feed file's. ``newest``: when its newest change was made.
    ``before``: an earlier window, all of whose positions are higher although its newest change is older.

    ``part``, ``fallen``: where changes of a part of the source have fallen (``trails``), perhaps below such of the same
    window; ``newest_before`` is then the newest time of those, ``before`` is empty, and both times are None where they
    are unknown.
    """

    table: str
    declared: str | None
    window: str
    newest: Any
    before: str
    newest_before: Any
    part: str | None = None
    fallen: Fallen | None = None


def restarts(accounts: Iterable[Mapping[str, Any]], opened: Collection[str] = ()) -> list[Restart]:
    """The first window of each table in which positions began again.

    Either changes of it have fallen, as its account says (``trails``), or all its positions are lower than in a window
    before it, and times newer. In a window of ``opened``, in which a person has opened an epoch, nothing tells what
    came before and what behind, where events have no times.
    """
    found: list[Restart] = []
    for rows in _by_table(accounts).values():
        again = (
            Restart(
                *(row["table"], row["declared"], row["window"], row["newest_event_at"]),
                *(before["window"], before["newest_event_at"]),
            )
            for before, row in _below_earlier([one for one in rows if _has_positions(one)])
            if _begins_again(before, row)
        )
        found += islice(chain(_falls_within(rows, opened), again), 1)
    return found


def _falls_within(rows: Iterable[Mapping[str, Any]], opened: Collection[str]) -> Iterator[Restart]:
    for row in rows:
        for text in row["falls"]:
            key, fallen = trails.read_fallen(text)
            if fallen.has_times or row["window"] not in opened:
                newest = moment_of(fallen.events[-1][1]) if fallen.has_times else None
                before = moment_of(fallen.before) if fallen.has_times else None
                where = (row["table"], row["declared"], row["window"])
                yield Restart(*where, newest, "", before, key.part, fallen)


def _has_positions(row: Mapping[str, Any]) -> bool:
    """Whether an account has changes with positions and times."""
    first, last = row["first_position"], row["last_position"]
    is_timed = row["newest_event_at"] is not None and row["changes"] >= MIN_CHANGES
    if not (first and last and is_timed and first[1] == STREAM):
        return False
    return partition_of(first) is None and partition_of(last) is None


def _below_earlier(
    rows: Sequence[Mapping[str, Any]],
) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Each window that is below some window before it, paired with every one before it.

    Hardly any is: to compare each of ten thousand windows with all before it takes seconds of every run.
    """
    highest: dict[tuple[object, int], tuple[int, ...]] = {}
    for at, row in enumerate(rows):
        first, last = tuple(row["first_position"]), tuple(row["last_position"])
        if last < highest.get((row["stream"], last[0]), last):
            yield from ((before, row) for before in rows[:at])
        of_log = row["stream"], first[0]
        highest[of_log] = max(first, highest.get(of_log, first))


def _begins_again(before: Mapping[str, Any], row: Mapping[str, Any]) -> bool:
    is_comparable = before["stream"] == row["stream"]
    if not is_comparable or before["first_position"][0] != row["last_position"][0]:
        return False
    falls_short = tuple(row["last_position"]) < tuple(before["first_position"])
    return bool(falls_short and row["newest_event_at"] > before["newest_event_at"])


class Unordered(NamedTuple):
    """A window with a snapshot of a table, behind changes of ``before``, that cannot remove what it does not name.

    It says nothing of where it was read, or it is of a part of the table, and not known to be complete; or the changes
    have no point in the log file in which it stands. ``before`` may be the same window then.
    """

    table: str
    declared: str | None
    window: str
    rows: int
    before: str


def unordered_snapshots(accounts: Iterable[Mapping[str, Any]]) -> list[Unordered]:
    """The first such window of each table.

    A first snapshot may take several windows, with changes beside it: only a window that has changes, and no row of the
    snapshot, says that it had ended.
    """
    found: list[Unordered] = []
    for rows in _by_table(accounts).values():
        behind = (
            Unordered(row["table"], row["declared"], row["window"], row["changes"], one["window"])
            for at, row in enumerate(rows)
            if _has_snapshot(row)
            for one in reversed(rows[:at])
            if _has_only_changes(one, row["first_position"][0])
        )
        found += islice(chain(_amid_changes_without_point(rows), behind), 1)
    return found


def _amid_changes_without_point(rows: Iterable[Mapping[str, Any]]) -> Iterator[Unordered]:
    """The windows with a second snapshot in a log file of which changes that came before it have no point.

    It stands before all changes of that file, although only a first one does so in truth.
    """
    points: dict[int, set[LogPosition]] = defaultdict(set)
    without_point: dict[tuple[Any, ...], tuple[int, str]] = {}
    for row in rows:
        texts = row["snapshots"]
        for one in snapshots.without_point_in(texts):
            first = (one.offset, row["window"])
            where = (*one.removes_at[:3], one.topic, one.partition)
            without_point[where] = min(first, without_point.get(where, first))
        for one in snapshots.with_point_in(texts):
            known = points[one.removes_at[0]]
            known.add(one.removes_at)
            offset, before = without_point.get(
                (*one.removes_at[:3], one.topic, one.partition), (one.offset, "")
            )
            if len(known) > 1 and offset < one.offset:
                names = (row["table"], row["declared"], row["window"], row["changes"])
                yield Unordered(*names, before)


def _has_snapshot(row: Mapping[str, Any]) -> bool:
    first = row["first_position"]
    is_in_phase = bool(first and len(first) > 1 and first[1] == SNAPSHOT)
    return is_in_phase or snapshots.has_parts(row["snapshots"])


def _has_only_changes(row: Mapping[str, Any], epoch: int) -> bool:
    first = row["first_position"]
    is_of_epoch = bool(first and len(first) > 1 and first[0] == epoch and first[1] == STREAM)
    return is_of_epoch and not snapshots.has_parts(row["snapshots"])


def _by_table(accounts: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """The accounts of each table that has changes, in the order of their windows."""
    found: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in accounts:
        if row["table"] is not None and row["changes"]:
            found[row["table"]].append(row)
    return {name: sorted(rows, key=lambda row: str(row["window"])) for name, rows in found.items()}
