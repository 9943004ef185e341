"""What a run's accounts say against the rules of silver, and what a reader of a failed check sees first."""

from __future__ import annotations

from collections.abc import Sequence

from assets.accounting import StoredAccount
from expectations import silver as rules
from transforms.feed import Feed
from transforms.formats import FORMATS
from transforms.silver import accounting

STORED = ("changes", "control", "held", "derived")
"""What silver keeps a row of."""


FEW_LATE = 10
"""So many events of a table may come too late in a window, whatever else it has: of a small one that is soon most."""


def count(
    feed: Feed,
    accounts: Sequence[StoredAccount],
    landed: int,
    written: int,
    refused: int,
    falls: Sequence[StoredAccount],
) -> dict[str, int]:
    """The violations of each rule, from the accounts and from what the commits say of themselves."""
    total = {name: sum(row[name] for row in accounts) for name in accounting.COUNTS}
    fates_sum = sum(total[name] for name in accounting.OUTCOMES)
    return {
        rules.ACCOUNTING_IS_EXACT.name: abs(landed - total["records"])
        + abs(total["events"] - fates_sum)
        + abs(written - sum(total[name] for name in STORED))
        + abs(refused - total["quarantined"] - total["too_late"] - total["derived_quarantined"]),
        rules.NO_NULL_KEY.name: total["null_keys"],
        rules.POSITION_RISES_WITH_SOURCE_TIME.name: len(falls),
        rules.NO_EVENT_TWICE.name: total["duplicates"],
        rules.NOTHING_QUARANTINED.name: total["quarantined"],
        rules.TABLES_ARE_DECLARED.name: sum(
            row["changes"] for row in accounts if row["declared"] is None
        ),
        rules.COLUMNS_ARE_DECLARED.name: len(undeclared_columns(accounts)),
        rules.NOTHING_TOO_LATE.name: total["too_late"],
        rules.MOST_EVENTS_ARE_IN_TIME.name: sum(
            row["too_late"] for row in accounts if is_mostly_late(row)
        ),
        rules.NOTHING_HELD.name: total["held"],
        **remarked(feed, accounts),
        # Of feeds whose format has transactions these are counted by who knows all windows.
        rules.EVERY_TRANSACTION_IS_COMMITTED.name: 0,
        rules.NO_TRANSACTION_IS_OVERDUE.name: 0,
    }


def is_mostly_late(account: StoredAccount) -> bool:
    """Whether more events of a window's table came too late than counted, or wait."""
    others = account["changes"] + account["held"] + account["quarantined"]
    return bool(account["too_late"] > max(FEW_LATE, others))


def remarked(feed: Feed, accounts: Sequence[StoredAccount]) -> dict[str, int]:
    """The events with each of the format's warnings, by the rule that it breaks."""
    return {
        warning.rule: sum(row["warnings"].get(warning.word, 0) for row in accounts)
        for warning in FORMATS[feed.format].warnings
    }


def samples(accounts: Sequence[StoredAccount], falls: Sequence[StoredAccount]) -> dict[str, str]:
    """What a reader of a failed check wants to see first."""
    undeclared = sorted(
        {str(row["source_table"]) for row in accounts if row["declared"] is None and row["changes"]}
    )
    fallen = [
        f"- {row['table']}: log file {row['segment']} ends at {row['newest']},"
        f" one with a lower number at {row['newest_before']}"
        for row in falls
    ]
    late = [
        f"- {row['table']}: {row['too_late']:,} in window {row['window']}"
        for row in accounts
        if is_mostly_late(row)
    ]
    return {
        rules.MOST_EVENTS_ARE_IN_TIME.name: "\n".join(late),
        rules.TABLES_ARE_DECLARED.name: "\n".join(f"- {name}" for name in undeclared),
        rules.COLUMNS_ARE_DECLARED.name: "\n".join(
            f"- {name}" for name in undeclared_columns(accounts)
        ),
        rules.POSITION_RISES_WITH_SOURCE_TIME.name: "\n".join(fallen),
    }


def undeclared_columns(accounts: Sequence[StoredAccount]) -> list[str]:
    """``table.column`` for every column of a declared table that its stream has and the feed file has not."""
    return sorted(
        {f"{row['table']}.{name}" for row in accounts for name in row["undeclared_columns"]}
    )
