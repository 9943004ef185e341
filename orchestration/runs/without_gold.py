"""What a run's summary says of tables that have events and no gold: their names, and the lines that declare them.

Put here how it is told of a run. Not here: what waits, and what is to be done about it (``waiting_tables``), and the
rest of the summary (``summary``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from assets.lake import Lake
from assets.wording import counted
from orchestration.runs.outcome import Outcome
from orchestration.runs.summary_lines import gold_tables
from orchestration.runs.waiting_tables import Waiting, in_words
from orchestration.sheets import Sheet


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
