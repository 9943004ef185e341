"""How often a run breaks each rule of silver, by its accounts, and what a reader of a failed check sees first.

Put here how a rule of silver is counted. Not here: the rules (``expectations/silver.py``), and how Dagster shows them
(``checks``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from assets.bookkeeping.accounting import StoredAccount
from assets.silver.freshness import WindowLag
from expectations import silver as rules
from transforms.display.markdown import Markdown, bullets
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.silver import accounting, conflicts

STORED = ("changes", "control", "held", "derived")
"""The outcomes of which silver keeps a row."""

FEW_LATE = 10
"""In a window that has other events, too, so many of a table may be too late: of a small window they are soon most."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What a run knows of its windows once they are written, as far as the rules of silver ask for it.

    ``accounts``: one row per window and table. ``landed``: how many records bronze has of these windows; ``written``
    and ``refused``: how many rows the commits of silver and of quarantine say that they wrote. ``falls``: the log files
    that end before an earlier one does (``log_resets.falls``). ``late``: those of the accounts in which most events
    come too late (``mostly_late``). ``stale``: the windows whose newest event was too old (``freshness.stale_lags``).
    ``conflicts``: where some of the events stand that contradict others.
    """

    accounts: Sequence[StoredAccount]
    landed: int
    written: int
    refused: int
    falls: Sequence[StoredAccount]
    late: Sequence[StoredAccount]
    stale: Sequence[WindowLag] = ()
    conflicts: Sequence[str] = ()


def count_of_rules(feed: Feed, findings: Findings) -> dict[str, int]:
    """How often each rule of silver is broken, by the rule's name.

    The rules of transactions are 0 here: of feeds whose format has transactions these are counted over all windows
    (``derive_windows``).
    """
    accounts = findings.accounts
    total = {name: sum(row[name] for row in accounts) for name in accounting.COUNTS}
    return {
        rules.ACCOUNTING_IS_EXACT.name: _miscounted(findings, total),
        rules.NO_NULL_KEY.name: total["null_keys"],
        rules.POSITION_RISES_WITH_SOURCE_TIME.name: len(findings.falls),
        rules.NO_EVENT_TWICE.name: total["duplicates"],
        rules.NOTHING_QUARANTINED.name: total["quarantined"],
        rules.TABLES_ARE_DECLARED.name: sum(
            row["changes"] for row in accounts if row["declared"] is None
        ),
        rules.COLUMNS_ARE_DECLARED.name: len(undeclared_columns(accounts)),
        rules.NOTHING_TOO_LATE.name: total["too_late"],
        rules.MOST_EVENTS_ARE_IN_TIME.name: sum(row["too_late"] for row in findings.late),
        rules.NOTHING_HELD.name: total["held"],
        rules.IS_FRESH.name: len(findings.stale),
        rules.NO_CONFLICTING_PAYLOADS.name: sum(
            (row["warnings"] or {}).get(conflicts.WORD, 0) for row in accounts
        ),
        **warnings_of(feed, accounts),
        rules.EVERY_TRANSACTION_IS_COMMITTED.name: 0,
        rules.NO_TRANSACTION_IS_OVERDUE.name: 0,
    }


def _miscounted(findings: Findings, total: Mapping[str, int]) -> int:
    """By how many records, events or rows the accounts differ from bronze, from their own sum and from the commits."""
    outcomes_sum = sum(total[name] for name in accounting.OUTCOMES)
    refused = total["quarantined"] + total["too_late"] + total["derived_quarantined"]
    return (
        abs(findings.landed - total["records"])
        + abs(total["events"] - outcomes_sum)
        + abs(findings.written - sum(total[name] for name in STORED))
        + abs(findings.refused - refused)
    )


def mostly_late(
    accounts: Iterable[StoredAccount], others: Iterable[StoredAccount]
) -> list[StoredAccount]:
    """Those of a run's accounts in which most events of their table came too late; ``others``: of other windows.

    Most: more than ``FEW_LATE``, and more than those that count or wait; or, however few, all events of the table that
    are no repeats. One event that is alone in its window is let pass, for it may be a straggler, unless the events of
    the table's window before it were all too late, too.
    """
    found: list[StoredAccount] = []
    of_table: dict[str, list[tuple[StoredAccount, bool]]] = defaultdict(list)
    for is_own, some in ((False, others), (True, accounts)):
        for row in some:
            if row["table"] is not None and row["changes"] + row["too_late"]:
                of_table[row["table"]].append((row, is_own))
    for rows in of_table.values():
        follows_late = False
        for row, is_own in sorted(rows, key=lambda one: str(one[0]["window"])):
            late, is_all = row["too_late"], is_wholly_late(row)
            waits = row["held"] + row["quarantined"]
            is_most = late > max(FEW_LATE, row["changes"] + waits)
            if is_own and (is_most or (is_all and (late > 1 or follows_late))):
                found.append(row)
            follows_late = is_all
    return sorted(found, key=lambda row: (row["window"], row["table"]))


def is_wholly_late(account: StoredAccount) -> bool:
    """Whether all events of a table in a window came too late, its repeats left aside.

    Where there are more repeats than late events that is no sign of a wrong horizon: somebody delivered old events
    again, among them some that had been missing.
    """
    late: int = account["too_late"]
    return not account["changes"] and late >= max(1, account["duplicates"])


def warnings_of(feed: Feed, accounts: Sequence[StoredAccount]) -> dict[str, int]:
    """The events with each of the format's warnings, by the rule that it breaks."""
    return {
        warning.rule: sum(row["warnings"].get(warning.word, 0) for row in accounts)
        for warning in FORMATS[feed.format].warnings
    }


def samples(findings: Findings) -> dict[str, Markdown]:
    """What a reader of a failed check wants to see first, by the rule's name; empty for most rules."""
    accounts = findings.accounts
    undeclared = sorted(
        {str(row["source_table"]) for row in accounts if row["declared"] is None and row["changes"]}
    )
    fallen = [
        f"{row['table']}: log file {row['segment']} ends at {row['newest']},"
        f" one with a lower number at {row['newest_before']}"
        for row in findings.falls
    ]
    too_late = [
        f"{row['table']}: {row['too_late']:,} in window {row['window']}" for row in findings.late
    ]
    return {
        rules.NO_CONFLICTING_PAYLOADS.name: bullets(findings.conflicts),
        rules.IS_FRESH.name: bullets(one.in_words() for one in findings.stale),
        rules.MOST_EVENTS_ARE_IN_TIME.name: bullets(too_late),
        rules.TABLES_ARE_DECLARED.name: bullets(undeclared),
        rules.COLUMNS_ARE_DECLARED.name: bullets(undeclared_columns(accounts)),
        rules.POSITION_RISES_WITH_SOURCE_TIME.name: bullets(fallen),
    }


def undeclared_columns(accounts: Sequence[StoredAccount]) -> list[str]:
    """``table.column`` for every column of a declared table that its stream has and the feed file has not."""
    return sorted(
        {f"{row['table']}.{name}" for row in accounts for name in row["undeclared_columns"]}
    )
