"""The database behind a feed, by its kind."""

from __future__ import annotations

from assets.reconcile.source import Source
from assets.source.database import Address
from transforms.feed.feed import Feed


def source_of(feed: Feed, address: Address) -> Source:
    """The database that a feed's changes come from; only the driver that it needs is imported."""
    if address.kind == "mysql":
        from assets.reconcile.mysql import MySqlSource

        return MySqlSource(feed.name, address)
    from assets.reconcile.postgres import PostgresSource

    return PostgresSource(feed.name, address)
