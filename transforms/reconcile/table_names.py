"""Which table of the source a gold table's changes came from, where a name may have a dot in it.

A change names its table in up to three parts, database, schema and table. What is kept of them is one text, with dots
between the parts, and where the feed file declares the table, the file's name for it stands at the end. So a text such
as ``shop.a.b`` may be about the table ``b`` of a schema ``shop.a``, or about a table ``a.b``. All ways to read it are
looked for in the source; where more than one of them is there, no table is compared.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

from transforms.feed.feed import TableNames
from transforms.feed.names import StreamName

_MOST_OF_A_TOPIC = 3
"""Of a topic's name, so many parts at most are taken for those of a table, wherever a dot in a name may be."""


class TableName(NamedTuple):
    """A table of the source: its schema, which is MySQL's database, and its own name."""

    schema: str
    name: str

    def __str__(self) -> str:
        """As a person reads it: a name with a dot in it stands in quotes."""
        return ".".join(_quoted(one) for one in self)


@dataclass(frozen=True, slots=True)
class Recorded:
    """What is kept of the name that changes had.

    ``table``: their gold table. ``called``: the text that their names became. ``declared``: what the feed file calls
    the table; None where it does not declare it. ``table_names``: how gold's names are made.
    """

    table: str
    called: str
    declared: str | None
    table_names: TableNames

    def names_of_changes(self) -> list[StreamName]:
        """The names that changes may have had to be kept so, the plainest first."""
        *before, _ = self.called.split(".")
        ends = combinations(range(len(before) + 1), 2)
        qualifiers = [None, *(".".join(before[low:high]) for low, high in ends)]
        *_, names = zip(*_cut(self.declared or self.called), strict=True)
        found = {
            named
            for catalog in qualifiers
            for schema in qualifiers
            for name in names
            if (catalog is None or schema is not None)
            and self._is_kept_of(named := StreamName(catalog, schema, name))
        }
        return sorted(found, key=_plainness)

    def readings(self, database: str | None) -> list[StreamName]:
        """What the table may be called in a source, the plainest first; ``database``: see ``telling``.

        What is called by its database is in this one; in a source that has no others, no name says one.
        """
        names, parts = self.names_of_changes(), self.called.split(".")
        is_ending = self.declared is None or f".{self.called}".endswith(f".{self.declared}")
        if (len(parts) <= _MOST_OF_A_TOPIC and is_ending) or not names:
            # Where a row does not name its table, its topic's name has been cut at each dot.
            names += [one for one in _splits(self.called) if one not in names]
        if database is None:
            return [one for one in names if one.catalog is None]
        return [one for one in names if one.catalog == database] or names

    def declared_as(self, declared: str, named: StreamName) -> Recorded:
        """What would be kept of a name if the feed file called the table so."""
        kept = named.as_declared(declared)
        table = kept.in_gold(self.table_names) or self.table
        return replace(self, table=table, called=".".join(kept.said), declared=declared)

    def _is_kept_of(self, named: StreamName) -> bool:
        if self.declared is not None:
            if self.declared not in named.spellings:
                return False
            named = named.as_declared(self.declared)
        return ".".join(named.said) == self.called and named.in_gold(self.table_names) == self.table


def is_read_so(table: TableName, named: StreamName) -> bool:
    """Whether a name is that of a table; one without a schema is that of tables of any."""
    return named.name == table.name and named.schema in (None, table.schema)


def told(readings: Sequence[StreamName], tables: Collection[TableName]) -> TableName | None:
    """The one table that is meant; None where it is not there, or where another one could be meant.

    It has to be the one of the plainest reading: where only another one is there, that may be gone.
    """
    found = {one for one in tables if any(is_read_so(one, named) for named in readings)}
    plainest = [one for one in found if is_read_so(one, readings[0])]
    return plainest[0] if plainest and len(found) == 1 else None


def telling(
    recorded: Recorded,
    wanted: TableName,
    tables: Collection[TableName],
    database: str | None,
    *,
    is_of_path: bool,
) -> str | None:
    """What the feed file has to call a table for it to be told from others; None if no name does that.

    ``database``: what the source calls itself; None where databases are what others call schemas.
    ``is_of_path``: its records do not name it, but the feed file does.
    """
    changes = [one for one in recorded.names_of_changes() if is_read_so(wanted, one)]
    if is_of_path:
        whole = ".".join(wanted)
        changes = [StreamName(None, None, one) for one in (whole, f"{database}.{whole}")]
    for named in changes:
        for declared in dict.fromkeys(reversed(named.spellings)):
            parts = declared.split(".")
            if len(parts) > len(named) or not all(parts):
                continue
            if told(recorded.declared_as(declared, named).readings(database), tables) == wanted:
                return declared
    return None


def _quoted(name: str) -> str:
    return f'"{name}"' if "." in name else name


def _plainness(named: StreamName) -> tuple[int, int, str]:
    """For sorting: names of more parts come first, and of these the ones with fewer dots in them."""
    return -len(named.said), sum(one.count(".") for one in named.said), str(named)


def _cut(text: str) -> Iterator[tuple[str | None, str]]:
    """A text in two at each of its dots, and whole."""
    parts = text.split(".")
    for at in range(len(parts)):
        yield ".".join(parts[:at]) or None, ".".join(parts[at:])


def _splits(text: str) -> Iterator[StreamName]:
    """All names that a text may be, the plainest first."""
    found = [
        StreamName(catalog, schema, name)
        for before, name in _cut(text)
        for catalog, schema in ([(None, None)] if before is None else _cut(before))
    ]
    yield from sorted(found, key=_plainness)
