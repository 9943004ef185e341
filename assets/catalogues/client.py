"""What registering asks of a catalogue, whichever it is, and how one is opened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Final, Protocol

from transforms.catalogue import Catalogue, Entry, Stored

SECONDS: Final = 15
"""How long a catalogue may take to answer: the run waits for it."""


class Client(Protocol):
    """A catalogue that answers.

    Each call raises ``CatalogueAway`` where it does not, and ``TableRefused`` where it will not have one table.
    """

    def tables(self, schema: str) -> Mapping[str, Stored]:
        """All tables of a schema, by name; none where there is no such schema."""

    def add(self, entry: Entry) -> None:
        """Register a table that the catalogue does not have, and its schema where that is missing."""

    def change(self, entry: Entry, stored: Stored) -> None:
        """Write a table that it has at the same place; what others wrote of it, among its properties, stays."""


@contextmanager
def client_of(catalogue: Catalogue) -> Iterator[Client]:
    """The client of a catalogue.

    Raises:
        CatalogueAway: it does not answer, or refuses whoever asks.
    """
    # Imported late: the messages of Hive's protocol alone take a second, and most deployments have one catalogue.
    module = import_module(f"assets.catalogues.{catalogue.kind}")
    with getattr(module, f"{catalogue.kind}_client")(catalogue) as client:
        yield client
