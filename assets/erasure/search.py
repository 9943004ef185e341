"""What bronze holds of a key: found by decoding all of it, for bytes alone do not say which record is whose."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from assets.columns import layers
from assets.executors.executor import Executor
from assets.executors.in_process import InProcess
from assets.executors.spark import InSpark
from assets.executors.spark_errors import raise_clearly
from assets.quarantine.records import maybe_among, source_location_of
from assets.silver import classify
from assets.silver.plan import BronzeFiles
from assets.storage.lake import Lake, Layer
from assets.wording import counted
from transforms.change import Key
from transforms.errors import ErasureRefused, SharedRecordsStay
from transforms.feed.decisions import Replacement, SourceLocation
from transforms.feed.erasures import Position, hashed_key
from transforms.feed.feed import Feed, Table
from transforms.formats import FORMATS
from transforms.silver.erasing import (
    OF_KEY,
    REACHED,
    UNREADABLE,
    WAITS,
    FindRecords,
    Judged,
    Wanted,
    holds,
    judged,
    linked_keys,
)
from transforms.silver.stages import Surveyed


@dataclass(frozen=True, slots=True)
class FoundRecord:
    """A record of bronze that is to go, and what is to be left of it."""

    window: str
    source_location: SourceLocation
    judged: Judged


@dataclass(frozen=True, slots=True)
class Found:
    """What bronze holds of a key.

    ``keys``: the key, and those that key changes link with it. ``records``: those that hold an event of one of them.
    ``unreadable``: those that nobody can read and that hold the key's text. ``reached``: the newest position that each
    stream of the table ever had. ``payloads``: repaired payloads that hold an event of one of the keys, or their text,
    and of which later ones took the place.
    """

    keys: frozenset[Key]
    records: Sequence[FoundRecord]
    unreadable: Sequence[FoundRecord]
    reached: Mapping[str, Position]
    payloads: Sequence[Replacement] = ()


def refuse_format(feed: Feed) -> None:
    """Raise where the feed's format has records that cannot be taken out one by one.

    Raises:
        ErasureRefused: what a record means depends on its neighbours, or a delete in it reaches other streams.
    """
    source = FORMATS[feed.format]
    if source.resolver or source.needs_whole_objects or source.crosses_streams:
        raise ErasureRefused(
            feed.name,
            f"what a record of the format {feed.format} means depends on the records around it, so that none can be"
            " taken out by itself",
            "Erase the person in the source, let a new export land, and make a new warehouse of it.",
        )


@dataclass(frozen=True, slots=True)
class KeyToErase:
    """A ``key`` (canonical texts) of a gold table (``name``), whose declared table is ``table``.

    ``linked``: whether the keys that key changes link with it are meant, too. ``unreadable``: whether records are that
    nobody can read and that hold its text. ``in_advance``: whether it is erased though nothing of it has come.
    """

    table: Table
    name: str
    key: Key
    linked: bool = False
    unreadable: bool = False
    in_advance: bool = False


def found_in_bronze(lake: Lake, feed: Feed, what: KeyToErase) -> Found:
    """What bronze holds of a key; ``feed``: with its recorded decisions.

    Raises:
        ErasureRefused: key changes link others with it, and they are not meant; or a record holds rows of others, too.
    """
    assert feed.erasure_key is not None  # whoever asks has refused a feed without it
    secret, keys, table = feed.erasure_key, {what.key}, what.name
    texts = tuple(one for one in what.key if one is not None)
    while True:
        hashes = frozenset(hashed_key(secret, feed.name, table, one) for one in keys)
        wanted = Wanted(table, hashes, texts)
        searched = _searched(lake, feed, wanted)
        rows = searched.rows
        links = [
            (tuple(row["moved_from"]), tuple(row["key"]))
            for row in rows
            if row["moved_from"] is not None and row["key"] is not None
        ]
        more = linked_keys(keys, links)
        if more == keys:
            break
        if not what.linked:
            named = "; ".join(", ".join(map(str, one)) for one in sorted(more - keys, key=str)[:5])
            raise ErasureRefused(
                feed.name,
                f"the source has changed this key, so that it is linked with {len(more) - len(keys)} more ({named}),"
                " and their events are in the same records",
                "`--linked` erases all of them.",
            )
        keys = more
    _refuse_waiting(feed, table, sum(row["what"] == WAITS for row in rows))
    records = _judged(lake, wanted, searched, OF_KEY)
    mine = {one.source_location for one in records}
    unreadable = [
        one
        for one in _judged(lake, wanted, searched, UNREADABLE)
        if one.source_location not in mine
    ]
    if what.unreadable:
        _refuse_with_rows(feed, [one for one in rows if one["what"] == UNREADABLE], mine)
    reached, payloads = _reached(feed, table, rows), _superseded(lake, wanted, searched)
    return Found(frozenset(keys), records, unreadable, reached, payloads)


def _reached(feed: Feed, table: str, rows: Iterable[dict[str, Any]]) -> Mapping[str, Position]:
    """The newest position of each stream of a table: of what bronze holds, and of what was erased from it before."""
    ends = [(row["stream"], tuple(row["log_position"])) for row in rows if row["what"] == REACHED]
    for one in feed.decisions.erasures:
        ends += one.reached if one.table == table else ()
    found: dict[str, Position] = {}
    for stream, position in ends:
        found[stream] = max(position, found.get(stream, position))
    return found


def _refuse_with_rows(
    feed: Feed, unreadable: Iterable[dict[str, Any]], mine: Collection[SourceLocation]
) -> None:
    """Raise where a record that hides the text is a change of another key: in a header, or before its repair."""
    for row in unreadable:
        if row["key"] is not None and source_location_of(row) not in mine:
            key = ", ".join(map(str, row["key"]))
            raise ErasureRefused(
                feed.name,
                f"{row['object']}, line {row['line']}, is a change of {row['table']} {key}, and a header of it that"
                " nobody can read, or what it was before its repair, holds the text of this key, from or to which the"
                " source may have changed it",
                f"If {key} is the same person, erase it first; if not, leave out `--unreadable`.",
            )


def _refuse_waiting(feed: Feed, table: str, count: int) -> None:
    """Raise where changes of the table came without a description of it, so that silver does not know their keys."""
    if count:
        raise ErasureRefused(
            feed.name,
            f"{counted(count, 'change')} of {table} came without a description of its columns, and so without a key"
            " that could be looked for",
            f"Declare {table} in the feed file, and `weir run`: then they have one.",
        )


@dataclass(frozen=True, slots=True)
class LandedAgain:
    """The records of bronze that erasures of the feed reach: they landed (again) after these.

    ``records``: those that can go. ``shared``: those that hold other rows, too, and stay. ``payloads``: as in
    ``Found``.
    """

    records: Sequence[FoundRecord]
    shared: Sequence[SourceLocation]
    payloads: Sequence[Replacement]


def landed_again(lake: Lake, feed: Feed) -> LandedAgain:
    """What bronze got of erased keys."""
    wanted = Wanted()
    searched = _searched(lake, feed, wanted)
    found = _judged(lake, wanted, searched, OF_KEY)
    return LandedAgain(
        [one for one in found if not one.judged.others],
        [one.source_location for one in found if one.judged.others],
        _superseded(lake, wanted, searched),
    )


def refuse_shared(feed: Feed, shared: Sequence[SourceLocation]) -> None:
    """Raise where records of erased keys that landed again stay in bronze, for they hold rows of others, too."""
    if shared:
        object_, _, line, _ = shared[0]
        raise SharedRecordsStay(feed.name, len(shared), f"{object_}, line {line}")


@dataclass(frozen=True, slots=True)
class _Searched:
    """The rows of ``FOUND``; ``feed``, ``surveyed``: what records were decoded with."""

    rows: list[dict[str, Any]]
    feed: Feed
    surveyed: Surveyed


def _searched(lake: Lake, feed: Feed, wanted: Wanted) -> _Searched:
    """What is found in all of bronze, by whichever executor fits."""
    table, source = lake.in_process_table(Layer.BRONZE, feed.name), FORMATS[feed.format]
    files = BronzeFiles.of(lake, feed, sorted(table.windows))
    choice = lake.choice

    def by(run: Executor[Any], bronze: Any) -> _Searched:
        known = classify.with_schemas(lake, run, feed, bronze)
        surveyed = classify.facts_of_windows(run, known, bronze)
        rows = run.collected(run.staged(bronze, FindRecords(known, source, wanted, surveyed)))
        return _Searched(rows.to_pylist(), known, surveyed)

    with raise_clearly():
        if choice.decodes_in_process(files.size) and choice.decodes_in_process(
            files.payload_bytes()
        ):
            return by(InProcess(), pa.Table.from_batches(files.batches(), layers.Bronze.schema))
        return by(InSpark(lake.spark_planned_once, feed), files.frame(lake.spark_planned_once))


def _judged(lake: Lake, wanted: Wanted, searched: _Searched, what: str) -> list[FoundRecord]:
    """The records that were found as ``what``, each looked at once more by itself."""
    feed = searched.feed
    asked = {
        source_location_of(row): str(row["window"]) for row in searched.rows if row["what"] == what
    }
    records: list[FoundRecord] = []
    for place, batch in _each_of(lake, feed, asked):
        one = judged(feed, FORMATS[feed.format], wanted, searched.surveyed, batch)
        if one.others and wanted.table is not None:
            others = [f"rows of {name}" if name else "what it says itself" for name in one.others]
            raise ErasureRefused(
                feed.name,
                f"{place[0]}, line {place[2]}, is one record that holds more than rows of this key (also"
                f" {', '.join(others)}), and Weir takes records out of bronze whole",
                "Erase the person in the source, let a new export land, and make a new warehouse of it.",
            )
        records.append(FoundRecord(asked[place], place, one))
    return records


def _superseded(lake: Lake, wanted: Wanted, searched: _Searched) -> list[Replacement]:
    """The repaired payloads that are meant and of which later ones took the place, so that no record is read so."""
    feed, found = searched.feed, list[Replacement]()
    given: dict[SourceLocation, list[Replacement]] = {}
    for one in feed.decisions.superseded():
        given.setdefault(one.source_location, []).append(one)
    asked = {place: some[0].window for place, some in given.items()}
    for place, batch in _each_of(lake, feed, asked):
        for one in given[place]:
            as_it_was = replace(feed, decisions=replace(feed.decisions, replacements=(one,)))
            find = FindRecords(as_it_was, FORMATS[feed.format], wanted, searched.surveyed)
            rows = [row for some in find([batch]) for row in some.to_pylist()]
            if holds(one.payload, wanted) or any(row["what"] == OF_KEY for row in rows):
                found.append(one)
    return found


_PLACE = ["object", "generation", "line", "byte_offset"]


def _each_of(
    lake: Lake, feed: Feed, asked: Mapping[SourceLocation, str]
) -> Iterator[tuple[SourceLocation, pa.RecordBatch]]:
    """Each of these records of bronze, given with their windows, as a batch of its own."""
    if not asked:
        return
    windows = {"window": {*asked.values()}}
    for rows in lake.in_process_table(Layer.BRONZE, feed.name).each(None, windows):
        some = maybe_among(rows, asked)
        for at, row in enumerate(some.select(_PLACE).to_pylist()):
            if (place := source_location_of(row)) in asked:
                for batch in some.slice(at, 1).combine_chunks().to_batches():
                    yield place, batch
