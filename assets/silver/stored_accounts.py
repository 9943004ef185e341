"""The accounts of some windows as rows of ``accounting.<feed>``.

Put here how a count or a fact of the accounts is stored. Not here: how events are counted
(``transforms/silver/accounting.py``), and the table's columns (``bookkeeping/accounting``).
"""

from __future__ import annotations

from collections.abc import Sequence

from assets.bookkeeping.accounting import ACCOUNTING, StoredAccount
from transforms.change_kinds import streams_label
from transforms.feed.digest import feed_digests
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.moments import moment_of
from transforms.silver.accounting import Account


def stored(feed: Feed, accounts: Sequence[Account]) -> list[StoredAccount]:
    """One row per window and table (``ACCOUNTING``)."""
    digest = feed_digests(feed)
    return [
        {
            **{name: account[name] for name in _SAME},
            "change_kinds": _change_kinds(feed, account),
            "newest_event_at": moment_of(account["newest_event_at"]),
            "segments": [
                {
                    **{"epoch": epoch, "segment": segment},
                    **{"event_at": moment_of(made_at), "extracted_at": moment_of(read_at)},
                }
                for epoch, segment, made_at, read_at in account["segments"]
            ],
            "stream_schemas": [
                {
                    "key": schema["key"],
                    "columns": [{"name": name, "type": kind} for name, kind in schema["columns"]],
                    "encoded": schema["encoded"],
                }
                for schema in account["stream_schemas"]
            ],
            "declaration": digest(account["window"]),
        }
        for account in accounts
    ]


def _change_kinds(feed: Feed, account: Account) -> list[str]:
    """The kinds of change, and from which streams they came where the fold asks whether there are several."""
    streams = [streams_label(account["streams"])] if FORMATS[feed.format].crosses_streams else []
    return [*account["change_kinds"], *streams]


_SAME = tuple(
    field.name
    for field in ACCOUNTING.fields
    if field.name
    not in ("change_kinds", "segments", "newest_event_at", "stream_schemas", "declaration")
)
