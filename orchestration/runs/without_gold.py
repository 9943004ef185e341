"""What a run's summary says of tables that have events and no gold: their names, and the lines that declare them.

Put here how it is told. Not here: what is proposed of such a table (``assets/silver/findings``), and the rest
of the summary (``summary``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assets.bookkeeping import accounting
from assets.lake import Lake
from assets.layers import Layer
from assets.silver.findings import lines_to_paste
from assets.wording import counted
from orchestration.runs.outcome import Outcome
from orchestration.runs.summary_lines import gold_tables
from orchestration.sheets import Sheet
from transforms.feed.feed import Feed
from transforms.formats import FORMATS


@dataclass(frozen=True, slots=True)
class Waiting:
    """Changes of tables that nobody declares: how many, by the source's name, and in which windows."""

    changes: Mapping[str, int]
    windows: frozenset[str]

    @classmethod
    def of(cls, accounts: Iterable[Mapping[str, Any]]) -> Waiting:
        """Those that these accounts tell of."""
        own = [row for row in accounts if row["declared"] is None and row["changes"]]
        found: Counter[str] = Counter()
        for row in own:
            found[row["source_table"]] += row["changes"]
        return cls(found, frozenset(row["window"] for row in own))


def show_without_gold(lake: Lake, outcomes: Sequence[Outcome], feeds: Path, sheet: Sheet) -> None:
    """Print what a person should do about tables that have no gold; nothing where all have it."""
    for outcome in outcomes:
        for line in without_gold(lake, outcome, feeds):
            sheet.line(line, "yellow" if not line.startswith(" ") else None)


def without_gold(lake: Lake, outcome: Outcome, feeds: Path) -> Iterator[str]:
    """The lines for one feed: that it has no gold, which tables wait, and what to paste."""
    feed, quarantined = outcome.plan.feed, quarantined_whole(outcome)
    waiting = Waiting.of(_accounts(outcome))
    if (waiting.changes or quarantined) and not any(gold_tables(outcome)):
        yield f"{feed.name}: this run made no gold."
    yield from _waiting(lake, feed, waiting, feeds)
    for name, count in quarantined.items():
        yield (
            f"{feed.name}: {counted(count, 'event')} of {name} went to quarantine, and none to gold:"
            f" `weir onboard {feed.landing} --print` proposes a declaration"
        )


def still_waiting(lake: Lake, feed: Feed, feeds: Path) -> Iterator[str]:
    """The same lines where no run was needed, for tables that waited before."""
    accounts = lake.in_process_table(Layer.ACCOUNTING, feed.name, columns=accounting.COLUMNS)
    rows = accounts.rows(["window", "source_table", "declared", "changes"])
    return _waiting(lake, feed, Waiting.of(rows), feeds)


def _waiting(lake: Lake, feed: Feed, waiting: Waiting, feeds: Path) -> Iterator[str]:
    """What to do about tables of which nobody says the key."""
    if not waiting.changes:
        return
    counts = sorted(waiting.changes.items())
    names = ", ".join(f"{name} ({counted(count, 'change')})" for name, count in counts)
    yield f"{feed.name}: not declared, so that the changes wait in silver: {names}"
    lines = lines_to_paste(lake, feed, waiting.windows)
    has_tables = bool(feed.tables) and FORMATS[feed.format].declares[0] == "tables"
    if has_tables:
        # The file has the key already: what is in it goes below the others.
        lines = [line for line in lines if line.startswith((" ", "#"))]
    where = f"{_file(feeds, feed)}{', below `tables`' if has_tables else ''}"
    yield f"{feed.name}: look over these lines, paste them into {where}, and run again:"
    yield from (f"    {line}" for line in lines)


def quarantined_whole(outcome: Outcome) -> dict[str, int]:
    """The events of undeclared tables of which all went to quarantine, by the source's name."""
    quarantined: dict[str, int] = {}
    taken = set()
    for account in _accounts(outcome):
        name = str(account["source_table"] or "")
        if account["declared"] is not None or not name or account["changes"]:
            taken.add(name)
        elif isinstance(account["quarantined"], int) and account["quarantined"]:
            quarantined[name] = quarantined.get(name, 0) + account["quarantined"]
    return {name: count for name, count in sorted(quarantined.items()) if name not in taken}


def _accounts(outcome: Outcome) -> Iterator[Mapping[str, object]]:
    for path, values in outcome.metadata:
        accounts = values.get("accounts") if path[0] == "silver" else None
        if isinstance(accounts, list):
            yield from accounts


def _file(feeds: Path, feed: Feed) -> str:
    for end in (".yaml", ".yml"):
        if (feeds / f"{feed.name}{end}").exists():
            return str(feeds / f"{feed.name}{end}")
    return f"feeds/{feed.name}.yaml"
