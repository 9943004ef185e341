"""The tables that a feed file should declare, by what a sample says of them.

Put here how a table that was seen becomes an entry of ``tables``. Not here: what was seen (``tables_seen``), and how
types and keys are inferred (``column_types``, ``keys``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from transforms.feed.column_names import spelled
from transforms.feed.feed import Feed
from transforms.feed.schema_policies import widens
from transforms.proposing.column_types import Inferred, inferred
from transforms.proposing.encodings_seen import refined
from transforms.proposing.entries import Entry, Found, Proposal, Sampled
from transforms.proposing.keys import SampledKey, key_of
from transforms.proposing.tables_seen import TableSeen, tables_seen
from transforms.value_types.encodings import BASE64, is_base64

_MOST_SHOWN: Final = 3

OF_STREAM: Final = "The stream describes these tables, so that gold needs no declaration of them"


def of_events(feed: Feed, sample: Sequence[Sampled]) -> Proposal:
    """The tables that the events of a sample name; what formats propose that have no way of their own."""
    return of_tables(tables_seen(sample).values())


def of_tables(tables: Iterable[TableSeen]) -> Proposal:
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
    inside = tuple(entries) if is_needed else tuple(_needed(one) for one in entries)
    comment = "" if is_needed else f"{OF_STREAM}; to fix them, take the marks # away"
    of_file = Entry("tables", inside, comment, is_needed)
    return Proposal((*head, of_file), tuple(found), tuple(notes))


def _needed(entry: Entry) -> Entry:
    """The entry, as one of those that stand together in a comment."""
    return Entry(entry.name, entry.value, entry.comment)


def key_found(table: TableSeen) -> SampledKey:
    """The table's key: as the stream says it, else as the sample speaks for it."""
    columns = [*table.values]
    if len(table.keys) == 1:
        (said,) = table.keys
        if said and set(said) <= set(columns):
            return SampledKey(said, True, "as the stream says")
        if not said:
            return SampledKey((), True, "the stream says that the table has none")
    guess = key_of(columns, [*table.changes.values()])
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
    names = spelled(dict.fromkeys(table.values, ""))
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
        fit = [one for one in said if all(widens(other, one) for other in said)]
        return Inferred(fit[0] if fit else "string", "as the stream says")
    found = inferred(table.values[column], may_grow=is_key or column.lower().endswith("id"))
    if is_key:
        return found
    return refined(column, [one for one in table.values[column] if isinstance(one, str)], found)


def seen_in_words(table: TableSeen) -> str:
    """What was seen of a table: how many events of which kinds, and where."""
    kinds = ", ".join(f"{count:,} {name}" for name, count in table.operations.most_common())
    objects = [*table.objects]
    where = ", ".join(objects[:_MOST_SHOWN]) + (", …" if len(objects) > _MOST_SHOWN else "")
    path = "; its paths name it" if table.named_by_path else ""
    return f"{kinds}, in {where}{path}"


def _in_words(table: TableSeen, key: SampledKey) -> str:
    of_key = f"key [{', '.join(key.columns)}]" if key.columns else "no key"
    how = "said by the drops" if key.is_said else "a guess"
    events = sum(table.operations.values())
    counts = f"{events:,} {'event' if events == 1 else 'events'}, {len(table.values)} columns"
    return f"{counts}, {of_key} ({how})"
