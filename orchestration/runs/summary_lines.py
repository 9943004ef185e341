"""The numbers of a run's summary: one line per table, counted from what the assets report.

Put here what is counted. Not here: how it is printed (``summary``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from assets.wording import counted
from orchestration.runs.outcome import Outcome, is_blocked

IN_ALL = "In all,"
"""How a line of the log begins that sums a run up: `weir run` prints a table instead."""


@dataclass(slots=True)
class TableLine:
    """What became of one table's events in a run, and how large the table is now.

    ``rows`` and ``tombstones`` are None where the run did not make the table.
    """

    events: int = 0
    changes: int = 0
    duplicates: int = 0
    quarantined: int = 0
    rows: int | None = None
    tombstones: int | None = None
    control: int = 0
    held: int = 0


def table_lines(outcome: Outcome) -> dict[str, TableLine]:
    """One line per table, by its name: events from silver's accounts, sizes from gold's metadata.

    A repeat of an event that another window had delivered before counts as a duplicate, too, so that
    events = changes + duplicates + quarantined + control + held. What came too late is in quarantine.
    """
    lines: dict[str, TableLine] = {}
    for path, values in outcome.metadata:
        if path[0] == "silver":
            for account in _accounts(values):
                line = lines.setdefault(str(account["table"] or "(no table)"), TableLine())
                line.events += _int(account["events"])
                line.changes += _int(account["changes"])
                line.duplicates += _int(account["duplicates"])
                line.quarantined += _int(account["quarantined"]) + _int(account["too_late"])
                line.control += _int(account["control"])
                line.held += _int(account["held"])
    for table in gold_tables(outcome):
        line = lines.setdefault(str(table["name"]), TableLine())
        repeats = _int(table["repeats"])
        line.changes -= repeats
        line.duplicates += repeats
        line.rows, line.tombstones = _int(table["rows"]), _int(table["tombstones"])
    return lines


def lines_in_words(outcome: Outcome) -> Iterator[str]:
    """The same for the run's log in Dagster's pages: a line for each table with events, and one on the checks."""
    for name, line in sorted(table_lines(outcome).items()):
        if line == TableLine():
            continue
        yield (
            f"{IN_ALL} {outcome.plan.feed.name}.{name}: {counted(line.events, 'source event')}"
            f" = {counted(line.changes, 'change')} + {counted(line.duplicates, 'duplicate')}"
            f" + {line.quarantined:,} quarantined"
            + (f" + {line.control:,} control" if line.control else "")
            + (f" + {line.held:,} held" if line.held else "")
            + (f"; now {counted(line.rows, 'row')}" if line.rows is not None else "")
            + (f" and {counted(line.tombstones, 'tombstone')}" if line.tombstones else "")
        )
    failed = sum(is_blocked(check) for check in outcome.checks)
    warned = sum(not check.passed for check in outcome.checks) - failed
    passed = len(outcome.checks) - failed - warned
    yield f"{IN_ALL} checks: {passed:,} passed, {counted(warned, 'warning')}, {failed:,} failed"


def gold_tables(outcome: Outcome) -> Iterator[Mapping[str, object]]:
    """The metadata of every gold table of the run: one asset may make several."""
    for path, values in outcome.metadata:
        if path[0] in ("gold", "undeclared") and "tables" in values:
            tables = values["tables"]
            assert isinstance(tables, list)
            yield from tables


def _accounts(values: Mapping[str, object]) -> list[dict[str, object]]:
    accounts = values["accounts"]
    assert isinstance(accounts, list)
    return accounts


def _int(value: object) -> int:
    assert isinstance(value, int)
    return value
