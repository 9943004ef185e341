"""Which of a feed's topics tells of transactions: Debezium calls it ``<prefix>.transaction``."""

from __future__ import annotations


def is_of_transactions(topic: str) -> bool:
    """Whether this is the topic that says where transactions begin and end."""
    return topic.strip().endswith("transaction")


def has_transactions(landing: str) -> bool:
    """Whether a landing of topics names such a topic."""
    topics = landing.partition("://")[2].partition("/")[2].split(",")
    return any(map(is_of_transactions, topics))
