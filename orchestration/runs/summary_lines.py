"""The numbers of a run's summary: one line per table, counted from what the assets report.

Put here what is counted. Not here: how it is printed (``summary``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assets.asset_keys import table_name_of
from assets.executors.choice import IN_PROCESS, SPARK
from assets.executors.told import EXECUTOR
from assets.wording import counted
from orchestration.runs.outcome import Outcome, is_blocked

IN_ALL = "In all,"
"""How a line of the log begins that sums a run up: `weir run` prints a table instead."""

SHOWN = 4
"""So many tables are named of those that Spark made."""


@dataclass(slots=True)
class TableLine:
    """What became of one table's events in a run, and how large the table is now.

    ``in_gold_already``: changes that gold had, from an earlier run of the window or from another one. ``rows`` and
    ``tombstones`` are None where the run did not make the table.
    """

    events: int = 0
    changes: int = 0
    duplicates: int = 0
    quarantined: int = 0
    rows: int | None = None
    tombstones: int | None = None
    control: int = 0
    held: int = 0
    in_gold_already: int = 0


def table_lines(outcome: Outcome) -> dict[str, TableLine]:
    """One line per table, by its name: events from silver's accounts, sizes from gold's metadata.

    events = changes + duplicates + quarantined + control + held, as in the accounts. What came too late is in
    quarantine.
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
        line.in_gold_already += _int(table["in_gold_already"])
        line.rows, line.tombstones = _int(table["rows"]), _int(table["tombstones"])
    return lines


def lines_in_words(outcome: Outcome) -> Iterator[str]:
    """The same for the run's log in Dagster's pages: a line for each table with events, who did it, and the checks."""
    for name, line in sorted(table_lines(outcome).items()):
        if line == TableLine():
            continue
        already = f" ({line.in_gold_already:,} in gold already)" if line.in_gold_already else ""
        yield (
            f"{IN_ALL} {outcome.plan.feed.name}.{name}: {counted(line.events, 'source event')}"
            f" = {counted(line.changes, 'change')}{already}"
            f" + {counted(line.duplicates, 'duplicate')}"
            f" + {line.quarantined:,} quarantined"
            + (f" + {line.control:,} control" if line.control else "")
            + (f" + {line.held:,} held" if line.held else "")
            + (f"; now {counted(line.rows, 'row')}" if line.rows is not None else "")
            + (f" and {counted(line.tombstones, 'tombstone')}" if line.tombstones else "")
        )
    for text in executors_in_words([outcome]):
        yield f"{IN_ALL} {text}"
    failed = sum(is_blocked(check) for check in outcome.checks)
    warned = sum(not check.passed for check in outcome.checks) - failed
    passed = len(outcome.checks) - failed - warned
    yield f"{IN_ALL} checks: {passed:,} passed, {counted(warned, 'warning')}, {failed:,} failed"


def executors(outcome: Outcome) -> dict[str, str]:
    """By table what did the work in this run, such as ``in-process``: of bronze, silver and gold."""
    found: dict[str, dict[str, None]] = {}
    for path, values in outcome.metadata:
        if EXECUTOR in values:
            of_table = found.setdefault(table_name_of(path), {})
            of_table.update(dict.fromkeys(str(values[EXECUTOR]).split(", ")))
    return {name: ", ".join(sorted(who)) for name, who in sorted(found.items())}


def executors_in_words(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Which executor did the run's work, in a line; where both had some, what Spark did."""
    who = {name: words for outcome in outcomes for name, words in executors(outcome).items()}
    by_spark = [name for name, words in who.items() if SPARK in words]
    if by_spark and {*who.values()} != {SPARK}:
        yield f"executor: {IN_PROCESS}; {SPARK} for {_in_short(by_spark)}"
    elif who:
        yield f"executor: {SPARK if by_spark else IN_PROCESS}"


def gold_tables(outcome: Outcome) -> Iterator[Mapping[str, object]]:
    """The metadata of every gold table of the run: one asset may make several."""
    for path, values in outcome.metadata:
        if path[0] in ("gold", "undeclared") and "tables" in values:
            tables = values["tables"]
            assert isinstance(tables, list)
            yield from tables


def _in_short(names: Sequence[str]) -> str:
    rest = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {rest:,} more" if rest > 0 else "")


def _accounts(values: Mapping[str, object]) -> list[dict[str, object]]:
    accounts = values["accounts"]
    assert isinstance(accounts, list)
    return accounts


def _int(value: object) -> int:
    assert isinstance(value, int)
    return value
