"""Gold registered in the catalogues of a warehouse: what is new or has changed is written, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from assets.catalogues.client import Client, client_of
from assets.gold.tables import mirrors
from assets.storage.lake import Lake, Layer
from assets.wording import counted
from transforms.catalogue import (
    Catalogue,
    Entry,
    Gold,
    Registered,
    Stored,
    entry_of,
    left_behind,
    state_of,
)
from transforms.errors import CatalogueAway, TableRefused
from transforms.feed.feed import Feed
from transforms.feed.names import HISTORY


@dataclass(frozen=True, slots=True)
class Registration:
    """What became of a feed's gold in one catalogue.

    ``schema``: the one that its tables are in. ``left``: the names of tables that the feed has no more, and that stay
    there. ``fault``: why the catalogue could not be asked, or answered no more; what is not in ``tables`` then was not
    looked at.
    """

    catalogue: str
    schema: str
    tables: tuple[Registered, ...] = ()
    left: tuple[str, ...] = ()
    fault: str | None = None

    @property
    def faults(self) -> list[str]:
        """What keeps gold from standing in the catalogue, in sentences."""
        refused = [one.says for one in self.tables if one.state == "refused"]
        return [*refused, *([self.fault] if self.fault else [])]

    @property
    def in_words(self) -> str:
        """How many tables of each state there are, in a line."""
        counts = (
            (sum(one.state == state for one in self.tables), state)
            for state in ("new", "changed", "same", "refused")
        )
        numbers = ", ".join(f"{number:,} {state}" for number, state in counts if number)
        return f"{self.catalogue}, schema {self.schema}: {numbers or counted(0, 'table')}"


def gold_of(lake: Lake, feed: Feed) -> Iterator[Gold]:
    """Every gold table of the feed that has been written, and the histories beside them."""
    for name, table in mirrors(lake, feed).items():
        for one in (name, name + HISTORY) if table.history else (name,):
            stored = lake.in_process_table(Layer.GOLD, feed.name, one)
            if stored.table is not None:
                fields = json.loads(stored.table.schema().to_json())["fields"]
                yield Gold(one, table, lake.path(Layer.GOLD, feed.name, one), fields)


def registered(lake: Lake, feed: Feed, *, is_dry_run: bool = False) -> list[Registration]:
    """Register the feed's gold in each catalogue; a catalogue's fault is part of what is returned."""
    tables = [*gold_of(lake, feed)] if lake.catalogues else []
    return [_registered_in(one, feed, tables, is_dry_run) for one in lake.catalogues]


def _registered_in(
    catalogue: Catalogue, feed: Feed, tables: list[Gold], is_dry_run: bool
) -> Registration:
    schema = catalogue.schema_of(feed.name)
    entries = [entry_of(feed, schema, one) for one in tables]
    done: list[Registered] = []
    left: list[str] = []
    fault = None
    try:
        with client_of(catalogue) as client:
            stored = dict(client.tables(schema))
            left = left_behind(feed.name, entries, stored)
            for entry in entries:
                done.append(_one(catalogue, client, entry, stored.get(entry.name), is_dry_run))
                # So that a second table of the same name is somebody else's.
                if done[-1].state != "refused":
                    stored[entry.name] = Stored(entry.location, entry.properties)
    except CatalogueAway as away:
        fault = str(away)
    return Registration(str(catalogue), schema, tuple(done), tuple(left), fault)


def _one(
    catalogue: Catalogue, client: Client, entry: Entry, stored: Stored | None, is_dry_run: bool
) -> Registered:
    found = state_of(entry, stored, catalogue)
    try:
        if is_dry_run:
            return found
        if stored is None:
            client.add(entry)
        elif found.state == "changed":
            client.change(entry, stored)
    except TableRefused as fault:
        return Registered(
            entry.full_name, "refused", f"{catalogue} refuses {entry.full_name}: {fault}"
        )
    return found
