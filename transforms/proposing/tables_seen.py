"""The tables that events name, and what a sample of their events says of each: columns, values, key and operations.

Put here what is gathered of a table. Not here: what is made of it (``proposed_tables``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from transforms.event import Event, StreamSchema, Value
from transforms.proposing.entries import Sampled
from transforms.proposing.keys import SampledChange

TableKey: TypeAlias = tuple[str | None, str | None, str | None]
"""Catalog, schema and name, as the stream has them."""

_ROW_OPERATIONS: Final = frozenset(
    {"insert", "update", "delete", "read", "replace", "set", "write", "put"}
)
_MOST_VALUES: Final = 2_000
_MOST_CHANGES: Final = 5_000


@dataclass(slots=True)
class TableSeen:
    """What a sample says of one table.

    ``named_by_path``: no record names it, but the paths of its objects do. ``operations``: how many events of each.
    ``values``: some of each column, in the order in which the columns came. ``said``: by column, the types that the
    stream says. ``keys``: the keys that it says. ``undescribed``: how many changes of rows come without key or types.
    """

    catalog: str | None
    schema: str | None
    name: str
    named_by_path: bool = False
    operations: Counter[str] = field(default_factory=Counter)
    objects: dict[str, None] = field(default_factory=dict)
    values: dict[str, set[Value]] = field(default_factory=dict)
    said: dict[str, dict[str, None]] = field(default_factory=dict)
    keys: dict[tuple[str, ...], None] = field(default_factory=dict)
    undescribed: int = 0
    changes: dict[object, SampledChange] = field(default_factory=dict)

    def take(self, object_name: str, event: Event) -> None:
        """Take in one event, and in which object it stood."""
        self.objects.setdefault(object_name)
        self.operations[event.operation or "unknown"] += 1
        if event.stream_schema is not None:
            self.describe(event.stream_schema)
        if event.scope is not None or event.operation not in _ROW_OPERATIONS:
            return
        self.undescribed += not _is_whole(event.stream_schema)
        for image in (event.after, event.before):
            for name, value in image.items():
                some = self.values.setdefault(name, set())
                if len(some) < _MOST_VALUES:
                    some.add(value)
        if len(self.changes) < _MOST_CHANGES:
            content = (tuple(event.before.items()), tuple(event.after.items()))
            is_same = (event.operation, event.identity, event.log_position, content)
            change = SampledChange(event.operation, event.before, event.after)
            self.changes.setdefault(is_same, change)

    def describe(self, schema: StreamSchema) -> None:
        """Take in what the stream says of the table."""
        if schema.key is not None:
            self.keys.setdefault(schema.key)
        for name, kind in schema.columns:
            self.values.setdefault(name, set())
            if kind is not None:
                self.said.setdefault(name, {}).setdefault(kind)

    @property
    def is_named_in_part(self) -> bool:
        """Whether another table of the name may be the same one."""
        return self.named_by_path or not self.changes

    @property
    def full_name(self) -> str:
        """The whole name, with dots between its parts."""
        return ".".join(one for one in (self.catalog, self.schema, self.name) if one)

    @property
    def is_described(self) -> bool:
        """Whether each change comes with the key and all types, so that gold needs no declaration."""
        return bool(self.keys) and not self.undescribed and self.said.keys() >= self.values.keys()


def _is_whole(schema: StreamSchema | None) -> bool:
    return (
        schema is not None
        and schema.key is not None
        and all(kind is not None for _, kind in schema.columns)
    )


def own_name(event: Event) -> str | None:
    """The table's name, as the event has it."""
    return event.name


def tables_seen(
    sample: Iterable[Sampled], name_of: Callable[[Event], str | None] = own_name
) -> dict[TableKey, TableSeen]:
    """The tables of a sample, in the order in which they came; ``name_of``: what the table of an event is called."""
    found: dict[TableKey, TableSeen] = {}
    for record, event in sample:
        is_unread = event.fault is not None and not event.after and not event.before
        if is_unread or event.derived is not None:
            continue
        name = name_of(event)
        if name is None or (event.effect == "note" and event.stream_schema is None):
            continue
        key = (event.catalog, event.schema, name)
        by_path = record.path_table == name and event.catalog is None is event.schema
        table = found.setdefault(key, TableSeen(*key[:2], name, named_by_path=by_path))
        table.named_by_path &= by_path
        table.take(record.object, event)
    return merged(found)


def merged(found: Mapping[TableKey, TableSeen]) -> dict[TableKey, TableSeen]:
    """The tables, of which one that is named in part is the one that other records name in full.

    So it is where only the path names a table, and where commits name it without its schema.
    """
    whole: dict[TableKey, TableSeen] = {}
    for key, table in sorted(found.items(), key=lambda pair: pair[1].is_named_in_part):
        named = [one for one in whole.values() if table.is_named_in_part and one.name == table.name]
        if len(named) == 1:
            _join(named[0], table)
        else:
            whole[key] = table
    return {key: whole[key] for key in found if key in whole}


def _join(table: TableSeen, other: TableSeen) -> None:
    table.operations += other.operations
    table.objects |= other.objects
    table.undescribed += other.undescribed
    table.changes |= other.changes
    for name, values in other.values.items():
        table.values.setdefault(name, set()).update(values)
