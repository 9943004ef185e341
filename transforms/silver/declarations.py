"""What the feed declares of the table that an event names: gold table, key, types, earlier names, policies."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from transforms.column_types.column_type import ColumnType, Judge
from transforms.column_types.encodings import judge_of_encoded
from transforms.column_types.nested import Nested
from transforms.column_types.numbers import WholeNumber
from transforms.column_types.parts import Said, adapted, said_of
from transforms.column_types.ranges import ENDS, OutOfRange
from transforms.column_types.registry import column_type
from transforms.column_types.texts import Binary
from transforms.event import Event, StreamSchema
from transforms.fault import Fault, shown
from transforms.feed.feed import Feed, Table
from transforms.feed.masks import Masks
from transforms.feed.names import HISTORY, TOMBSTONES, UNFIT_IN_TABLE_NAMES, StreamName, gold_name
from transforms.feed.schema_policies import Policies

LONGEST_NAME: Final = 180
"""Bytes of a table's name: it is part of a folder's and of a lock's, which have at most 255."""

_UNFIT: Final = re.compile(UNFIT_IN_TABLE_NAMES)


def name_fault(table: str | None, name: str | None, parts: Sequence[str | None]) -> Fault | None:
    """Why no gold table can have such a name; every name that a stream gives is checked by this function.

    ``table`` is the gold table's name, ``name`` the last part of the source's, ``parts`` all that folders are named by.
    """
    if not name:
        return Fault("missing_table", "neither record nor path names it")
    for part in (table, *parts):
        if part is not None and _UNFIT.search(part):
            return Fault(
                "unfit_table_name",
                f"the table is named {shown(table)}, and a folder's name cannot hold slashes, backticks, brackets,"
                " bars, carets, control characters or % before two hexadecimal digits, begin or end with a blank, or be"
                " _delta_log",
            )
    assert table is not None  # its last part is not empty
    if (size := len(table.encode("utf-8", "replace"))) > LONGEST_NAME:
        return Fault(
            "unfit_table_name",
            f"the table's name has {size:,} bytes, and a folder's name has room for {LONGEST_NAME}: {table[:60]} ...",
        )
    for ending, whose in ((TOMBSTONES, "tombstones"), (HISTORY, "history")):
        if table.lower().endswith(ending):
            return Fault(
                "unfit_table_name",
                f"the table is named {table}, and names that end in {ending} are those of Weir's own tables of {whose}",
            )
    return None


# Earlier names. An event's identity is made under the names of today, so that a delivery under the old name and one
# under the new name are one event.


def with_todays_columns(event: Event, renamed: Mapping[str, str]) -> None:
    """Put every image of an event under today's names (``renamed``: earlier name to name).

    An image that has a column under two names stays as it is and is a fault: nothing says which value counts.
    """
    for image in ("before", "after", "attribute_ops", "scope"):
        columns = getattr(event, image)
        if not columns or renamed.keys().isdisjoint(columns):
            continue
        times = Counter(renamed.get(name, name) for name in columns)
        twice = next((one for one in columns if one in renamed and times[renamed[one]] > 1), None)
        if twice is None:
            setattr(event, image, {renamed.get(name, name): one for name, one in columns.items()})
        elif event.fault is None:
            event.fault = Fault(
                "ambiguous_rename",
                f"{twice} and another column are both {renamed[twice]}, as the feed file renames them",
            )


# Declarations, each looked up once for each way in which a stream names a table.


_MOST_KNOWN: Final = 10_000


@dataclass(frozen=True, slots=True)
class Declaration:
    """One table as its events name it.

    ``table`` is the gold table; ``source_table`` the stream's name of it, ``catalog.schema.table``; ``declared`` the
    feed file's name for it, or the stream's where the stream describes it, or None. ``is_declared``: whether the feed
    file has it. ``key_columns`` is None where nobody tells the key; of a table without a key it is all columns, and
    ``is_keyless`` is true. ``column_types`` is None where nobody tells them. ``judges`` are the judges of the columns
    whose types are known; ``plain_judges`` are those of columns with ``encodings`` where a record itself says how
    their values are written. ``fault``: why no event of such a table can be taken. ``masks``: what becomes of its
    values; None where none is masked. ``has_full_dumps``: whether its snapshots' rows are whole tables
    (``full_dumps``). ``out_of_range``: the columns whose dates and times beyond the years 1 to 9999 are taken all the
    same, and as what. ``parts``: what the feed file says of the values in arrays, maps and structs, by column.
    """

    table: str | None
    source_table: str
    declared: str | None
    is_declared: bool
    key_columns: tuple[str, ...] | None
    is_keyless: bool
    column_types: Mapping[str, str | None] | None
    judges: Mapping[str, Judge]
    renamed: Mapping[str, str]
    policies: Policies
    fault: Fault | None
    masks: Masks | None = None
    has_full_dumps: bool = False
    encodings: Mapping[str, str] = field(default_factory=dict)
    plain_judges: Mapping[str, Judge] = field(default_factory=dict)
    out_of_range: Mapping[str, OutOfRange] = field(default_factory=dict)
    parts: Mapping[str, Said] = field(default_factory=dict)

    def kind_of(self, column: str, read: Collection[str] = ()) -> ColumnType:
        """A column's type, as the feed file says how its values are written; ``read``: what a record says itself."""
        name = (self.column_types or {})[column]
        assert name is not None  # only columns of known types are judged
        said = self.parts.get(column)
        if said is None:
            return column_type(name)
        if read:
            unread = tuple((path, one) for path, one in said.encodings if path not in read)
            said = said._replace(encodings=unread)
        return adapted(column, name, said)

    def judges_of(self, event: Event) -> Mapping[str, Judge]:
        """The judges of an event's values; of those that its schema has read only the type is asked."""
        if not (self.plain_judges or self.parts) or not event.read_by_schema:
            return self.judges
        read = self._read_in(event)
        plain = {name: judge for name, judge in self.plain_judges.items() if name in read}
        parts = {name: self.kind_of(name, read).judge for name in self.parts}
        return {**self.judges, **plain, **parts}

    def _read_in(self, event: Event) -> frozenset[str]:
        """The columns, and parts of columns, that an event's schema has read, by today's names."""
        if not self.renamed:
            return event.read_by_schema
        split = (name.partition(".") for name in event.read_by_schema)
        return frozenset(self.renamed.get(name, name) + dot + rest for name, dot, rest in split)


class Declarations:
    """All declarations of one feed, by what its events say; ``describes_tables``: its stream may describe tables."""

    def __init__(self, feed: Feed, *, describes_tables: bool) -> None:
        self._feed = feed
        earlier = {old: name for name, table in feed.tables.items() for old in table.was}
        self._known = {name: name for name in feed.tables} | earlier
        self._owners = {gold_name(name, feed.table_names): name for name in feed.tables}
        self._tells_tables = describes_tables
        self._found: dict[object, Declaration] = {}

    def of(
        self,
        catalog: str | None,
        schema: str | None,
        name: str | None,
        stream_schema: StreamSchema | None,
    ) -> Declaration:
        """The declaration of the table that an event names so, and that its stream describes so."""
        described = (catalog, schema, name, stream_schema)
        found = self._found.get(described)
        if found is None:
            if len(self._found) >= _MOST_KNOWN:
                # A stream may name any number of tables.
                self._found.clear()
            found = self._found[described] = self._look_up(*described)
        return found

    def _look_up(
        self,
        catalog: str | None,
        schema: str | None,
        name: str | None,
        stream_schema: StreamSchema | None,
    ) -> Declaration:
        named = StreamName(*self._todays(catalog, schema, name))
        declared = next((one for one in named.spellings if one in self._feed.tables), None)
        if declared is not None:
            named = named.as_declared(declared)
        kept = named.kept(self._feed.table_names)
        table = named.in_gold(self._feed.table_names)
        source_table = ".".join(named.said)
        fault = name_fault(table, named.name, kept)
        if declared is not None:
            of_file = self._feed.tables[declared]
            found = _of_file(of_file, table, source_table, fault, _said(stream_schema, of_file))
            found = self._with_ranges(found, of_file.out_of_range)
            masks = Masks(of_file.masks, of_file.renamed, self._feed.mask_key)
            return replace(found, masks=masks) if of_file.masks else found
        if stream_schema is not None and self._tells_tables:
            # The stream's whole name is what such a table is declared as, and its lock is called.
            fault = name_fault(table, named.name, named) or self._taken(table, source_table)
            described = _of_stream(stream_schema, table, source_table, fault)
            return self._with_ranges(described, {})
        return Declaration(
            *(table, source_table, None, False, None, False, None, {}, {}, Policies(), fault)
        )

    def _with_ranges(self, declaration: Declaration, own: Mapping[str, OutOfRange]) -> Declaration:
        """With the policies of a table's dates and times: its own, else the feed's; those in other values, too."""
        found: dict[str, OutOfRange] = {}
        parts: dict[str, Said] = {}
        for name, kind in (declaration.column_types or {}).items():
            policy = own.get(name, self._feed.out_of_range)
            is_of_key = not declaration.is_keyless and name in (declaration.key_columns or ())
            if kind in ENDS and policy != "quarantine" and not (policy == "null" and is_of_key):
                found[name] = policy
            if kind is not None and isinstance(column_type(kind), Nested):
                said = said_of(name, kind, declaration.encodings, own, self._feed.out_of_range)
                if any(said):
                    parts[name] = said
        if not found and not parts:
            return declaration
        declaration = replace(declaration, out_of_range=found, parts=parts)
        judges = {name: declaration.kind_of(name).judge for name in parts}
        return replace(declaration, judges={**declaration.judges, **judges})

    def _taken(self, table: str | None, source_table: str) -> Fault | None:
        """Whether the feed file has declared another table whose gold this one's would be.

        The file says whose the name is, whichever table's events come first.
        """
        owner = self._owners.get(table or "")
        if owner is None:
            return None
        return Fault(
            "table_name_taken",
            f"gold table {table} is that of {owner}, which the feed file declares, and {source_table} is another one:"
            " `table_names: schema` (or catalog) gives each a table of its own",
        )

    def _todays(
        self, catalog: str | None, schema: str | None, name: str | None
    ) -> tuple[str | None, str | None, str | None]:
        """The table's name of today, where the event has an earlier one."""
        spellings = StreamName(catalog, schema, name).spellings
        spelling = next((one for one in spellings if one in self._known), None)
        if spelling is None or self._known[spelling] == spelling:
            return catalog, schema, name
        *qualifiers, name = self._known[spelling].split(".")
        padded: list[str | None] = [None, None, *qualifiers]
        return padded[-2] or catalog, padded[-1] or schema, name


def _said(stream_schema: StreamSchema | None, table: Table) -> frozenset[str]:
    """The columns of which the stream says what their values stand for: all but plain whole numbers and plain bytes."""
    columns = () if stream_schema is None else stream_schema.columns
    said = [
        name
        for name, kind in columns
        if kind is not None
        and not _is_open(kind)
        # Of bytes that come as a text the schema does not say how.
        and not (kind == "string" and table.columns.get(table.renamed.get(name, name)) == "binary")
    ]
    return frozenset(table.renamed.get(name, name) for name in said)


def _is_open(type_name: str) -> bool:
    return isinstance(column_type(type_name), WholeNumber | Binary)


def _of_file(
    table: Table,
    gold_name: str | None,
    source_table: str,
    fault: Fault | None,
    said: frozenset[str],
) -> Declaration:
    types = dict(table.columns)
    kinds = {name: column_type(kind) for name, kind in types.items()}
    simple = {name for name, kind in kinds.items() if not isinstance(kind, Nested)}
    encodings = {name: one for name, one in table.encodings.items() if name not in simple & said}
    encoded = {
        name: judge_of_encoded(types[name], one)
        for name, one in encodings.items()
        if name in simple
    }
    return Declaration(
        *(gold_name, source_table, table.name, True, table.identity, not table.key, types),
        judges={name: kind.judge for name, kind in kinds.items()} | encoded,
        renamed=table.renamed,
        policies=table.policies,
        fault=fault,
        has_full_dumps=table.snapshots == "replace",
        encodings=encodings,
        plain_judges={name: kinds[name].judge for name in encoded},
    )


def _of_stream(
    stream_schema: StreamSchema, gold_name: str | None, source_table: str, fault: Fault | None
) -> Declaration:
    types = dict(stream_schema.columns)
    is_keyless = stream_schema.key is not None and not stream_schema.key
    return Declaration(
        *(gold_name, source_table, source_table, False),
        *(tuple(types) if is_keyless else stream_schema.key, is_keyless, types),
        judges={name: column_type(kind).judge for name, kind in types.items() if kind is not None},
        renamed={},
        policies=Policies(),
        fault=fault,
    )
