"""Logs that were reset: their positions begin again with low numbers while time goes on.

Put here how the accounting shows it. Not here: the accounting itself (``accounting``), and the epochs that a person
declares because of it (``epochs``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from transforms.silver.accounting import LATEST, Account


def falls(accounts: Iterable[Account]) -> list[Account]:
    """One entry for each log file whose newest change was made, and read, before a change of a lower-numbered file.

    Its keys: ``table``, ``epoch``, ``segment`` (the log file's number), ``newest`` (the time of the file's newest
    change) and ``newest_before`` (the newest time in files with lower numbers); both in microseconds since 1970.

    A log that was reset starts with low numbers again while time goes on: the order of events is then unknown. Both
    times must fall. A statement that began before its log file did is a little older than the file before it says, but
    is read after that; a file that is delivered again is read later, but its changes are as old as they were.
    """
    newest: dict[tuple[str, int], dict[int, tuple[int, int]]] = defaultdict(dict)
    for account in accounts:
        for epoch, segment, made, read in account["segments"]:
            of_log = newest[account["table"] or "", epoch or 0]
            seen = (made, -LATEST if read is None else -read)
            of_log[segment] = max(seen, of_log.get(segment, seen))
    found = []
    for (table, epoch), of_log in sorted(newest.items()):
        found += _falls_of_log(table, epoch, sorted(of_log.items()))
    return found


def _falls_of_log(
    table: str, epoch: int, files: Sequence[tuple[int, tuple[int, int]]]
) -> list[Account]:
    found: list[Account] = []
    made_before: int | None = None
    read_before: int | None = None
    for segment, (made, unread) in files:
        read = None if unread == -LATEST else -unread
        if made_before is not None and made < made_before:
            read_falls = read is None or read_before is None or read < read_before
            if read_falls:
                found.append(
                    {
                        **{"table": table, "epoch": epoch, "segment": segment},
                        **{"newest": made, "newest_before": made_before},
                    }
                )
        made_before = made if made_before is None else max(made_before, made)
        if read is not None:
            read_before = read if read_before is None else max(read_before, read)
    return found
