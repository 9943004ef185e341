"""What a run's accounts say against the rules of silver, and what a reader of a failed check sees first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from assets.bookkeeping.accounting import StoredAccount
from expectations import silver as rules
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.silver import accounting

STORED = ("changes", "control", "held", "derived")
"""What silver keeps a row of."""

FEW_LATE = 10
"""So many events of a table may come too late in a window that has others: of a small one that is soon most."""


def count(
    feed: Feed,
    accounts: Sequence[StoredAccount],
    landed: int,
    written: int,
    refused: int,
    falls: Sequence[StoredAccount],
    late: Sequence[StoredAccount],
) -> dict[str, int]:
    """The violations of each rule, from the accounts and from what the commits say of themselves."""
    total = {name: sum(row[name] for row in accounts) for name in accounting.COUNTS}
    outcomes_sum = sum(total[name] for name in accounting.OUTCOMES)
    return {
        rules.ACCOUNTING_IS_EXACT.name: abs(landed - total["records"])
        + abs(total["events"] - outcomes_sum)
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
        rules.MOST_EVENTS_ARE_IN_TIME.name: sum(row["too_late"] for row in late),
        rules.NOTHING_HELD.name: total["held"],
        **warnings_of(feed, accounts),
        # Of feeds whose format has transactions these are counted by who knows all windows.
        rules.EVERY_TRANSACTION_IS_COMMITTED.name: 0,
        rules.NO_TRANSACTION_IS_OVERDUE.name: 0,
    }


def mostly_late(
    accounts: Iterable[StoredAccount], others: Iterable[StoredAccount]
) -> list[StoredAccount]:
    """The accounts of a run in which most events of their table came too late; ``others``: those of other windows.

    More than a few, and more than count or wait; or all that is news of the table, however few. Only one event that is
    alone in its window is let pass, for it may be a straggler: unless the window before it was as late.
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
    """Whether all that is news of a table in a window came too late.

    Among more repeats it is no sign: what was delivered again is as old as it was, and so is what was missing there.
    """
    late: int = account["too_late"]
    return not account["changes"] and late >= max(1, account["duplicates"])


def warnings_of(feed: Feed, accounts: Sequence[StoredAccount]) -> dict[str, int]:
    """The events with each of the format's warnings, by the rule that it breaks."""
    return {
        warning.rule: sum(row["warnings"].get(warning.word, 0) for row in accounts)
        for warning in FORMATS[feed.format].warnings
    }


def samples(
    accounts: Sequence[StoredAccount],
    falls: Sequence[StoredAccount],
    late: Sequence[StoredAccount],
) -> dict[str, str]:
    """What a reader of a failed check wants to see first."""
    undeclared = sorted(
        {str(row["source_table"]) for row in accounts if row["declared"] is None and row["changes"]}
    )
    fallen = [
        f"- {row['table']}: log file {row['segment']} ends at {row['newest']},"
        f" one with a lower number at {row['newest_before']}"
        for row in falls
    ]
    too_late = [f"- {row['table']}: {row['too_late']:,} in window {row['window']}" for row in late]
    return {
        rules.MOST_EVENTS_ARE_IN_TIME.name: "\n".join(too_late),
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
