"""Transactions: which one an event is part of, and the records of the transaction topic that say when it is whole.

Put here what says that changes wait for their commit. Not here: what waits in silver and how it comes to gold
(``transforms/silver/transactions.py``, docs/change_model.md).

Vendor: Debezium documentation, "Transaction metadata" of each connector.
"""

from __future__ import annotations

import re
from typing import Final

from transforms.event import Transaction
from transforms.families.connect.envelopes import Envelope
from transforms.families.whole_numbers import whole
from transforms.feed.feed import Feed
from transforms.json_values import as_text

_MARKS: Final = {"begin": "begin", "end": "commit"}
_TRANSACTION: Final = re.compile(r"([0-9]+):[0-9]+", re.ASCII)


def waits(feed: Feed) -> bool:
    """Whether changes wait for the end of their transaction.

    No record says whether the feed reads the transaction topic. A feed of topics that names none that ends in
    ``transaction`` does not, and waiting would be for ever; files may be of any topic, so theirs wait.
    """
    if not feed.reads_topics:
        return True
    topics = feed.landing.partition("://")[2].partition("/")[2].split(",")
    return any(topic.strip().endswith("transaction") for topic in topics)


def mark_of(envelope: Envelope) -> str | None:
    """``begin`` or ``commit`` for a record of the transaction topic, else None."""
    body = envelope.body
    if body.get("op") is not None or body.get("id") is None:
        return None
    return _MARKS.get((as_text(body.get("status")) or "").lower())


def transaction_of(envelope: Envelope, mark: str | None) -> Transaction | None:
    """The transaction that an event or a mark is part of; its end says of how many events it consists."""
    found = envelope.body.get("id" if mark is not None else "transaction")
    if mark is None:
        found = found.get("id") if type(found) is dict else None
    own = as_text(found)
    if not own:
        return None
    # Postgres's is its number and an LSN, which differs from event to event.
    numbered = _TRANSACTION.fullmatch(own)
    expected = whole(envelope.body.get("event_count")) if mark == "commit" else None
    return Transaction(own if numbered is None else numbered[1], expected)
