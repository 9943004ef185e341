"""The tables that a sample's events name, what is seen of each, and what a feed file should declare of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from transforms.column_types.encodings import is_base64
from transforms.column_types.numbers import BASE64
from transforms.column_types.registry import widest
from transforms.event import Event, StreamSchema, Value
from transforms.feed.feed import Feed
from transforms.feed.names import spelled_columns
from transforms.onboarding.proposal import Entry, Found, Proposal, Sampled, first_of
from transforms.onboarding.types_and_keys import (
    Inferred,
    SampledChange,
    SampledKey,
    inferred_type,
    refined_type,
    sampled_key,
)

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


def tables_seen(
    sample: Iterable[Sampled], name_of: Callable[[Event], str | None] = lambda event: event.name
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


OF_STREAM: Final = "The stream describes these tables, so that gold needs no declaration of them"


def proposal_of_events(feed: Feed, sample: Sequence[Sampled]) -> Proposal:
    """The tables that the events of a sample name; what formats propose that have no way of their own."""
    return proposal_of_tables(tables_seen(sample).values())


def proposal_of_tables(tables: Iterable[TableSeen]) -> Proposal:
    """What the feed file says of these tables."""
    kept = [one for one in tables if one.values]
    plain = Counter(one.name.lower() for one in kept)
    is_plain = all(count == 1 for count in plain.values())
    entries, found, notes = [], [], []
    for table in kept:
        name = table.name if is_plain else table.full_name
        key = key_found(table)
        types = {
            column: type_found(table, column, is_key=column in key.columns)
            for column in table.values
        }
        entry = table_entry(name, table, key, types)
        entries.append(entry)
        found.append(Found(name, _in_words(table, key)))
        if not key.columns:
            notes.append(
                f"table {name} has no key yet: {key.evidence}. Give it one, if the source has one."
            )
        elif not key.is_said:
            notes.append(f"the key of {name}, [{', '.join(key.columns)}], is {key.evidence}.")
        notes += _encodings_in_words(name, types)
    if not entries:
        return Proposal()
    is_needed = any(one.is_needed for one in entries)
    head = () if is_plain else (Entry("table_names", "schema", "several tables have one name"),)
    inside = tuple(entries) if is_needed else tuple(replace(one, is_needed=True) for one in entries)
    comment = "" if is_needed else f"{OF_STREAM}; to fix them, take the marks # away"
    of_file = Entry("tables", inside, comment, is_needed)
    return Proposal((*head, of_file), tuple(found), tuple(notes))


def with_parts(proposal: Proposal, parts_of: Callable[[str], Iterable[Entry]]) -> Proposal:
    """The proposal in which each table says more: what ``parts_of`` has for its name."""

    def told(tables: Entry) -> Entry:
        inside = [
            replace(one, value=(*_inside(one), *parts_of(one.name))) for one in _inside(tables)
        ]
        return replace(tables, value=tuple(inside))

    entries = [told(one) if one.name == "tables" else one for one in proposal.entries]
    return replace(proposal, entries=tuple(entries))


def _inside(entry: Entry) -> list[Entry]:
    return [one for one in entry.value if isinstance(one, Entry)]


def key_found(table: TableSeen) -> SampledKey:
    """The table's key: as the stream says it, else as the sample speaks for it."""
    columns = [*table.values]
    if len(table.keys) == 1:
        (said,) = table.keys
        if said and set(said) <= set(columns):
            return SampledKey(said, True, "as the stream says")
        if not said:
            return SampledKey((), True, "the stream says that the table has none")
    guess = sampled_key(columns, [*table.changes.values()])
    if len(table.keys) > 1:
        several = " and ".join(f"[{', '.join(one)}]" for one in table.keys)
        return SampledKey(guess.columns, False, f"a guess: the stream says {several}")
    return guess


def _encodings_in_words(name: str, types: Mapping[str, Inferred]) -> Iterator[str]:
    """What a person should look at where values seem to be written otherwise than their types have them."""
    times = [
        f"{column} ({one.encoding})"
        for column, one in types.items()
        if one.encoding and not is_base64(one.encoding)
    ]
    decimals = [column for column, one in types.items() if one.encoding.startswith(f"{BASE64}(")]
    if times:
        yield (
            f"that these whole numbers of {name} are times is a guess, for no schema says it: {', '.join(times)}."
            " Look at the preview; where it is wrong, declare int or bigint, and take the column out of encoded."
        )
    if decimals:
        yield (
            f"these texts of {name} are taken for decimals in base64, with two digits behind the point, which is a"
            f" guess, for nothing says how many there are: {', '.join(decimals)}. Look the columns up in the source,"
            " and correct their types and encoded."
        )


def table_entry(
    name: str, table: TableSeen, key: SampledKey, types: Mapping[str, Inferred]
) -> Entry:
    """The table as the feed file declares it."""
    names = spelled_columns(dict.fromkeys(table.values, ""))
    columns, encoded = [], []
    for column in table.values:
        kind, today = types[column], names.get(column, column)
        columns.append(Entry(today, kind.type, kind.evidence))
        if kind.encoding:
            encoded.append(Entry(today, kind.encoding))
    parts = [
        Entry("key", tuple(names.get(one, one) for one in key.columns), key.evidence),
        Entry("columns", tuple(columns)),
    ]
    if encoded:
        parts.append(
            Entry("encoded", tuple(encoded), "how values are written that no schema comes with")
        )
    if names:
        renamed = tuple(Entry(old, new) for old, new in names.items())
        parts.append(Entry("renamed", renamed, "names that no Delta table can have"))
    return Entry(name, tuple(parts), seen_in_words(table), not table.is_described)


def type_found(table: TableSeen, column: str, *, is_key: bool) -> Inferred:
    """The column's type: as the stream says it, else as its values suggest."""
    said = table.said.get(column)
    if said:
        return Inferred(widest(said), "as the stream says")
    found = inferred_type(table.values[column], may_grow=is_key or column.lower().endswith("id"))
    if is_key:
        return found
    return refined_type(
        column, [one for one in table.values[column] if isinstance(one, str)], found
    )


def seen_in_words(table: TableSeen) -> str:
    """What was seen of a table: how many events of which kinds, and where."""
    kinds = ", ".join(f"{count:,} {name}" for name, count in table.operations.most_common())
    path = "; its paths name it" if table.named_by_path else ""
    return f"{kinds}, in {first_of(table.objects)}{path}"


def _in_words(table: TableSeen, key: SampledKey) -> str:
    of_key = f"key [{', '.join(key.columns)}]" if key.columns else "no key"
    how = "said by the drops" if key.is_said else "a guess"
    events = table.operations.total()
    counts = f"{events:,} {'event' if events == 1 else 'events'}, {len(table.values)} columns"
    return f"{counts}, {of_key} ({how})"
