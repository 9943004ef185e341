"""The summary of a run: a line for each table, what the checks found, what went wrong, what has no gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import dagster as dg

from assets.executors.choice import EXECUTOR, IN_PROCESS, SPARK
from assets.feed_assets import table_name_of
from assets.gold.range_deletes import RangeDeleteEffect, effect_lines
from assets.quality.checks import fails_run
from assets.storage.lake import Lake
from assets.wording import counted
from expectations import feed_rules
from orchestration.observability.drift_lines import NEW_DRIFT
from orchestration.runs.outcome import Outcome, findings_of
from orchestration.runs.waiting_tables import Waiting, in_words
from orchestration.sheets import Grid, Sheet
from transforms.display import block_lines, bullet_text


def show_summary(outcomes: Sequence[Outcome], sheet: Sheet) -> None:
    """Print the table, what the checks found and what went wrong."""
    table = summary_table(outcomes)
    if table.has_rows():
        sheet.line()
        sheet.grid(table)
        sheet.line()
    for outcome in outcomes:
        for text in effects_in_words(outcome):
            sheet.line(text, "yellow")
    for text in executors_in_words(outcomes):
        sheet.line(text)
    show_checks(outcomes, sheet)
    for outcome in outcomes:
        for text in new_in_stream(outcome):
            sheet.line(text)
        for error in outcome.errors:
            sheet.lines(f"error: {error}", "red")


_HEADS: Final = (
    *("events", "changes", "in_gold_already", "duplicates", "quarantined", "control", "held"),
    *("rows", "marked", "tombstones"),
)
_SELDOM: Final = frozenset(("in_gold_already", "control", "held", "marked"))
"""Columns that are shown where they have numbers: most runs repeat nothing, and have neither commits nor holds."""


def summary_table(outcomes: Sequence[Outcome]) -> Grid:
    """A line for each table of which something came."""
    table = Grid()
    table.column("table", "never")
    lines = [
        (f"{outcome.plan.feed.name}.{name}", line)
        for outcome in outcomes
        for name, line in lines_with_events(outcome).items()
    ]
    heads = [
        head
        for head in _HEADS
        if head not in _SELDOM or any(getattr(line, head) for _, line in lines)
    ]
    for head in heads:
        called = "source events" if head == "events" else head.replace("_", " ")
        table.numbers(called, "between words")
    for name, line in lines:
        numbers = [getattr(line, head) for head in heads]
        table.row(name, *("-" if value is None else f"{value:,}" for value in numbers))
    return table


def effects_in_words(outcome: Outcome) -> Iterator[str]:
    """What deletes of many rows at once did to the run's gold tables."""
    for made in gold_tables(outcome):
        changes = made["range_deletes"]
        assert isinstance(changes, list)
        for text in effect_lines(tuple(RangeDeleteEffect(**one) for one in changes)):
            yield f"{outcome.plan.feed.name}.{made['name']}: {text}"


def new_in_stream(outcome: Outcome) -> Iterator[str]:
    """What the stream has that the feed file does not declare, with the lines to paste."""
    # Every window of a run has what is new in the run.
    told = dict.fromkeys(
        str(values[NEW_DRIFT]) for _, values in outcome.metadata if NEW_DRIFT in values
    )
    for block in told:
        yield from block_lines(block)


def show_checks(outcomes: Sequence[Outcome], sheet: Sheet) -> None:
    """Print how many checks passed, and lines for each that did not."""
    checks = [check for outcome in outcomes for check in outcome.checks]
    if not checks:
        return
    sheet.line(checks_in_words(checks))
    left = [f"gold.{one.plan.feed.name}" for one in outcomes if _has_stopped_gold(one)]
    colors = {"failed": "red", "warning": "yellow"}
    # Those that failed stand first.
    for one in sorted(findings_of(checks), key=lambda one: one.severity):
        sheet.line(f"  {one.severity}: {one.asset}: {one.check}", colors[one.severity])
        for line in filter(None, one.says.splitlines()):
            sheet.line(f"    {bullet_text(line)}")
    for name in sorted(left):
        sheet.line(f"error: {name} was left as it was, because of the failed check", "red")


def _has_stopped_gold(outcome: Outcome) -> bool:
    """Whether a check of silver failed that lets nothing go on to gold."""
    rules = feed_rules.silver_rules(outcome.plan.feed)
    blocking = {rule.name for rule in rules if rule.severity == "blocking"}
    return any(
        check.check_name in blocking and check.asset_key.path[0] == "silver"
        for check in outcome.checks
        if fails_run(check)
    )


IN_ALL = "In all,"
"""How a line of the log begins that sums a run up: `weir run` prints a table instead."""


@dataclass(slots=True)
class TableLine:
    """What became of one table's events in a run, and how large the table is now.

    ``in_gold_already``: changes that gold had, from an earlier run of the window or from another one. ``rows`` that are
    live and ``tombstones`` are None where the run did not make the table. ``marked``: rows that are marked as deleted.
    """

    events: int = 0
    changes: int = 0
    duplicates: int = 0
    quarantined: int = 0
    rows: int | None = None
    tombstones: int | None = None
    marked: int = 0
    control: int = 0
    held: int = 0
    in_gold_already: int = 0


def table_lines(outcome: Outcome) -> dict[str, TableLine]:
    """One line per table, by its name: events from silver's accounts, sizes from gold's metadata.

    events = changes + duplicates + quarantined + control + held, as in the accounts. What came too late is in
    quarantine.
    """
    lines: dict[str, TableLine] = {}
    for account in accounts_of(outcome):
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
        line.marked = _int(table.get("marked", 0))
    return lines


def lines_with_events(outcome: Outcome) -> dict[str, TableLine]:
    """The lines of which something came, by name: a response without events is a record, and has nothing to show."""
    lines = sorted(table_lines(outcome).items())
    return {name: line for name, line in lines if line != TableLine()}


def lines_in_words(outcome: Outcome) -> Iterator[str]:
    """The same for the run's log in Dagster's pages: a line for each table with events, who did it, and the checks."""
    for name, line in lines_with_events(outcome).items():
        already = f" ({line.in_gold_already:,} in gold already)" if line.in_gold_already else ""
        yield (
            f"{IN_ALL} {outcome.plan.feed.name}.{name}: {counted(line.events, 'source event')}"
            f" = {counted(line.changes, 'change')}{already}"
            f" + {counted(line.duplicates, 'duplicate')}"
            f" + {line.quarantined:,} quarantined"
            + (f" + {line.control:,} control" if line.control else "")
            + (f" + {line.held:,} held" if line.held else "")
            + (f"; now {counted(line.rows, 'row')}" if line.rows is not None else "")
            + (f", {line.marked:,} marked as deleted" if line.marked else "")
            + (f" and {counted(line.tombstones, 'tombstone')}" if line.tombstones else "")
        )
    for text in executors_in_words([outcome]):
        yield f"{IN_ALL} {text}"
    yield f"{IN_ALL} {checks_in_words(outcome.checks)}"


def checks_in_words(checks: Sequence[dg.AssetCheckEvaluation]) -> str:
    """How many checks passed, only warned, and failed."""
    found = Counter(one.severity for one in findings_of(checks))
    failed, warned = found["failed"], found["warning"]
    passed = len(checks) - failed - warned
    return f"checks: {passed:,} passed, {counted(warned, 'warning')}, {failed:,} failed"


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
        more = f" and {len(by_spark) - 4:,} more" if len(by_spark) > 4 else ""
        yield f"executor: {IN_PROCESS}; {SPARK} for {', '.join(by_spark[:4])}{more}"
    elif who:
        yield f"executor: {SPARK if by_spark else IN_PROCESS}"


def gold_tables(outcome: Outcome) -> Iterator[Mapping[str, object]]:
    """The metadata of every gold table of the run: one asset may make several."""
    for path, values in outcome.metadata:
        if path[0] in ("gold", "discovered") and "tables" in values:
            tables = values["tables"]
            assert isinstance(tables, list)
            yield from tables


def _int(value: object) -> int:
    assert isinstance(value, int)
    return value


def show_without_gold(lake: Lake, outcomes: Sequence[Outcome], feeds: Path, sheet: Sheet) -> None:
    """Print what a person should do about tables that have no gold; nothing where all have it."""
    for outcome in outcomes:
        for line in without_gold(lake, outcome, feeds):
            sheet.line(line, "yellow" if not line.startswith(" ") else None)


def without_gold(lake: Lake, outcome: Outcome, feeds: Path) -> Iterator[str]:
    """The lines for one feed: that it has no gold, which tables wait, and what to paste."""
    feed, quarantined = outcome.plan.feed, quarantined_whole(outcome)
    waiting = Waiting.of(accounts_of(outcome))
    if (waiting.changes or quarantined) and not any(gold_tables(outcome)):
        yield f"{feed.name}: this run made no gold."
    yield from in_words(lake, feed, waiting, feeds)
    for name, count in quarantined.items():
        yield (
            f"{feed.name}: {counted(count, 'event')} of {name} went to quarantine, and none to gold:"
            f" `weir onboard {feed.landing} --print` proposes a declaration"
        )


def quarantined_whole(outcome: Outcome) -> dict[str, int]:
    """The events of undeclared tables of which all went to quarantine, by the source's name."""
    quarantined: dict[str, int] = {}
    taken = set()
    for account in accounts_of(outcome):
        name = str(account["source_table"] or "")
        if account["declared"] is not None or not name or account["changes"]:
            taken.add(name)
        elif isinstance(account["quarantined"], int) and account["quarantined"]:
            quarantined[name] = quarantined.get(name, 0) + account["quarantined"]
    return {name: count for name, count in sorted(quarantined.items()) if name not in taken}


def accounts_of(outcome: Outcome) -> Iterator[Mapping[str, object]]:
    """Silver's accounts of the run: of each window and table what became of its events."""
    for path, values in outcome.metadata:
        accounts = values.get("accounts") if path[0] == "silver" else None
        if isinstance(accounts, list):
            yield from accounts
