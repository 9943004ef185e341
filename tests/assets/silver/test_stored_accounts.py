"""The accounts of many tables as they are stored: what is said of the whole feed is worked out once for all of them."""

from __future__ import annotations

from assets.control.progress import declarations
from assets.silver.derive import stored_accounts
from transforms.feed import digest
from transforms.feed.feed import Feed, Table
from transforms.silver.accounting import AccountKey, Accounts

NAMES = [f"t{number}" for number in range(50)]
FEED = Feed(
    "shop",
    "arcion_s3_json",
    "/nowhere",
    tables={name: Table(name, ("id",), {"id": "int"}, ()) for name in NAMES},
)
WINDOWS = ("2025-11-20T10", "2025-11-20T11")


def test_the_feed_is_digested_once_for_the_accounts_of_all_its_tables(digested: list[str]) -> None:
    accounts = Accounts()
    for window in WINDOWS:
        for name in NAMES:
            key = AccountKey(window, name, f"shop.{name}", name)
            accounts.add(key, "changes", None, is_first=True)
    rows = stored_accounts(FEED, declarations(FEED, WINDOWS), accounts.rows())
    assert len(rows) == len(WINDOWS) * len(NAMES)
    assert len(digested) == 1
    assert {row["declaration"] for row in rows} == {digest.feed_digest(FEED, WINDOWS[0])}
