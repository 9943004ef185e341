"""A bounded sample of a landing, a few megabytes at most, and the feed that would read it: its format and drops."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from pathlib import PurePosixPath
from typing import Final

from assets.landing import kafka, read_topics
from assets.landing.kafka_offsets import Partition, Range
from assets.landing.landings import LandedObject, Landing, open_landing
from assets.wording import counted
from transforms.errors import UnreadableLanding, WeirError
from transforms.feed.feed import USUAL_CSV, Feed
from transforms.feed.paths import matches, table_of_object
from transforms.formats import FORMATS
from transforms.moments import microseconds_of
from transforms.onboarding.dialects import (
    GuessedDialect,
    GuessedEncoding,
    guessed_dialect,
    guessed_encoding,
    rows_in_words,
)
from transforms.onboarding.landing_windows import LandingWindows, landing_windows
from transforms.onboarding.recognition import Evidence, nearest_in_words, recognised
from transforms.record import BronzeRecord, Record
from transforms.records.avro_containers import MAGIC as AVRO
from transforms.records.compression import compression_of, inflate
from transforms.records.encoding import to_utf8

MOST_LISTED: Final = 20_000
MOST_OF_OBJECT: Final = 2 << 20
MOST_BYTES: Final = 16 << 20
MOST_RECORDS: Final = 5_000
_SILENCE: Final = 15.0
_RECORDS_OF_TOPIC: Final = 100
"""Number of records of a topic that count as one object."""


@dataclass(frozen=True, slots=True)
class SampledObject:
    """One object of the sample: its bytes inflated and in UTF-8, ``is_cut`` where there are more of them."""

    object: LandedObject
    data: bytes
    is_cut: bool
    compression: str | None = None


@dataclass(frozen=True, slots=True)
class Sample:
    """What was read of a landing.

    ``listed``: how many drops there are; ``is_all_listed``: false where there may be more. ``windows``: those of all
    that are listed. ``of_topics``: the records of topics, which have no objects. ``unread``: objects that no run can
    read, with the reason. ``encoding``, ``dialect``: how the objects are written, as far as it has to be said.
    """

    feed: Feed
    objects: tuple[SampledObject, ...] = ()
    listed: int = 0
    is_all_listed: bool = True
    size: int = 0
    left_out: tuple[str, ...] = ()
    windows: LandingWindows | None = None
    of_topics: tuple[BronzeRecord, ...] = ()
    unread: tuple[str, ...] = ()
    encoding: GuessedEncoding | None = None
    dialect: GuessedDialect | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to look at."""
        return not self.objects and not self.of_topics

    def names(self) -> list[str]:
        """The objects, or the partitions of topics, that were read."""
        if self.of_topics:
            return [*dict.fromkeys(one.object for one in self.of_topics)]
        return [one.object.name for one in self.objects]

    def records_of(self, name: str, feed: Feed, most: int) -> list[BronzeRecord]:
        """The first records of one object, cut as the feed's format cuts them; none where it cannot be read so."""
        if self.of_topics:
            own = (one for one in self.of_topics if one.object == name)
            return [*islice(own, most)] if FORMATS[feed.format].reads_kafka else []
        (found,) = (one for one in self.objects if one.object.name == name)
        return _cut(found, feed, most)

    def drops_of(self, feed: Feed) -> list[str]:
        """The objects that are drops of the feed, by their names."""
        globs = FORMATS[feed.format].files if feed.files is None else (feed.files,)
        return [
            name
            for name in self.names()
            if self.of_topics or any(matches(name, glob) for glob in globs)
        ]

    def records(self, feed: Feed) -> list[BronzeRecord]:
        """The records of the drops that the feed reads, about equally many of each."""
        names = self.drops_of(feed)
        if self.dialect is not None and FORMATS[feed.format].reads_csv:
            names = [name for name in names if name not in self.dialect.others]
        most = max(1, MOST_RECORDS // max(1, len(names)))
        return [one for name in names for one in self.records_of(name, feed, most)]


def _cut(one: SampledObject, feed: Feed, most: int) -> list[BronzeRecord]:
    split = FORMATS[feed.format].split
    try:
        found = [*islice(split(one.data, feed, one.object.name), most + 1)]
    except WeirError:
        # A header that cannot be understood, say.
        return []
    if one.is_cut and len(found) <= most:
        # Where the sample is cut, its last record is, too.
        found = found[:-1]
    table = table_of_object(one.object.name, feed.tables)
    return [_of_object(one.object, record, table) for record in found[:most]]


def _of_object(one: LandedObject, record: Record, table: str) -> BronzeRecord:
    return BronzeRecord(
        *(one.window, one.name, one.generation, record.line, record.byte_offset),
        *(record.header, record.payload, record.defect, microseconds_of(one.modified_at)),
        path_table=table,
    )


def sample_landing(
    feed: Feed,
    most: int,
    progress: Callable[[str], None],
    listed: Callable[[LandingWindows], None] = lambda _: None,
) -> Sample:
    """Read a sample of the feed's landing: at most so many objects, or hundreds of records of topics.

    ``progress`` is told what is being read, and ``listed`` the windows of the objects before any is.

    Raises:
        UnreadableLanding: it cannot be listed or read.
    """
    if feed.reads_topics:
        return _of_topics(feed, most)
    landing = open_landing(feed)
    objects = [*islice(landing.list(), MOST_LISTED + 1)]
    windows = landing_windows([(one.name, one.modified_at) for one in objects[:MOST_LISTED]])
    listed(windows)
    found, unread = _read(landing, spread(objects[:MOST_LISTED], most), progress)
    encoding = guessed_encoding(_texts(found))
    found = tuple(_in_utf8(one, None if encoding is None else encoding.name) for one in found)
    dialect = guessed_dialect(_texts(found))
    return Sample(
        replace(feed, encoding=None if encoding is None else encoding.name, csv=dialect.csv),
        found,
        listed=min(len(objects), MOST_LISTED),
        is_all_listed=len(objects) <= MOST_LISTED,
        size=sum(one.size for one in objects),
        left_out=tuple(landing.left_out),
        windows=windows,
        unread=unread,
        encoding=encoding,
        dialect=dialect,
    )


def _read(
    landing: Landing, chosen: Iterable[LandedObject], progress: Callable[[str], None]
) -> tuple[tuple[SampledObject, ...], tuple[str, ...]]:
    """The beginnings of these objects, by name, as far as all are not too large; and those that cannot be read."""
    found: list[SampledObject] = []
    unread: list[str] = []
    size = 0
    for one in chosen:
        if size >= MOST_BYTES:
            break
        progress(f"{one.name} ({one.size:,} bytes)")
        data, _ = landing.read(one.name, one.generation, MOST_OF_OBJECT)
        kind = compression_of(data)
        if kind == "zip" and len(data) > MOST_OF_OBJECT:
            # Where the file in it lies is said at its end.
            data, _ = landing.read(one.name, one.generation, MOST_BYTES)
        inflated, damage = inflate(data, MOST_OF_OBJECT, one.name, reads_avro=True)
        if damage is not None and not inflated:
            unread.append(f"{one.name}: {damage}")
            continue
        is_cut = len(data) > MOST_OF_OBJECT or len(inflated) > MOST_OF_OBJECT
        found.append(SampledObject(one, inflated[:MOST_OF_OBJECT], is_cut, kind))
        size += len(inflated)
    return tuple(sorted(found, key=lambda one: one.object.name)), tuple(unread)


def _texts(found: Iterable[SampledObject]) -> dict[str, bytes]:
    return {one.object.name: one.data for one in found if not one.data.startswith(AVRO)}


def _in_utf8(one: SampledObject, encoding: str | None) -> SampledObject:
    if one.data.startswith(AVRO):
        return one
    return replace(one, data=to_utf8(one.data, encoding, MOST_OF_OBJECT)[0])


def spread(objects: Sequence[LandedObject], most: int) -> list[LandedObject]:
    """At most so many objects: of each kind of name the first, then the last, and so on inwards."""
    kinds: dict[str, list[LandedObject]] = defaultdict(list)
    for one in objects:
        if one.size:
            kinds[re.sub("[0-9]+", "0", one.name)].append(one)
    found: list[LandedObject] = []
    turns = 0
    while len(found) < most and any(kinds.values()):
        for some in kinds.values():
            if some and len(found) < most:
                found.append(some.pop(0 if turns % 2 == 0 else -1))
        turns += 1
    return found


def _of_topics(feed: Feed, most: int) -> Sample:
    partitions = kafka.look_at_topics(feed)
    ranges = tuple(_ranges(partitions, most * _RECORDS_OF_TOPIC))
    total = sum(one.end - one.earliest for one in partitions)
    rows = read_topics.rows_of(feed, None, _SILENCE, ranges)
    records = [_of_row(row) for row in rows if row[3]]
    return Sample(feed, listed=total, of_topics=tuple(records[:MOST_RECORDS]))


def _ranges(partitions: Sequence[Partition], most: int) -> Iterable[Range]:
    """The first offsets of each partition, where its snapshot stands, and its newest."""
    each = max(2, most // max(1, len(partitions)))
    for one in partitions:
        if one.end - one.earliest <= each:
            yield Range(one, one.earliest, one.end)
        else:
            middle = one.earliest + each // 2
            yield Range(one, one.earliest, middle, is_last=False)
            yield Range(one, one.end - each // 2, one.end)


def _of_row(row: Sequence[object]) -> BronzeRecord:
    window, name, generation, line, offset, header, payload, defect, landed_at, key, headers = row
    moment = microseconds_of(landed_at) if isinstance(landed_at, datetime) else 0
    return BronzeRecord(
        *(window, name, generation, line, offset, header, payload, defect, moment, key, headers),  # type: ignore[arg-type]
        path_table=table_of_object(str(name), {}),
    )


def refuse_empty(found: Sample) -> None:
    """Raise UnreadableLanding where nothing lies there that could be looked at."""
    if not found.is_empty:
        return
    what = "no record is there yet" if found.feed.reads_topics else "no drop is there yet"
    if found.listed:
        what = f"{counted(found.listed, 'object')} lie there, and all are empty"
    if found.unread:
        what = f"none of the objects there can be read: {'; '.join(found.unread[:3])}"
    if found.left_out:
        what += f" (left out: {'; '.join(found.left_out[:3])})"
    remedy = "Check the address, or call again once something has landed."
    raise UnreadableLanding(found.feed.name, found.feed.landing, what, remedy)


_LOOKED_AT: Final = 100
"""Maximum number of records of each object that are looked at for the signs of every format."""


def recognise(found: Sample, format_name: str | None) -> Evidence:
    """The format of the sample, by its signs or because it is asked for.

    Raises:
        FormatUnclear: the drops do not say which it is.
    """
    every = {name: Evidence(name) for name in FORMATS if format_name in (None, name)}
    for name, evidence in every.items():
        feed = replace(found.feed, format=name)
        for one in found.names():
            evidence.add(feed, one, found.records_of(one, feed, _LOOKED_AT))
    if format_name is not None:
        return every[format_name]
    return recognised(found.feed.landing, every, _seen(found))


def _seen(found: Sample) -> str:
    """What the first drops look like, where no format is recognised: how they begin, and what is nearest to it."""
    payloads = [one.payload for one in found.of_topics if one.payload][:_LOOKED_AT]
    feed = replace(found.feed, format="arcion_s3_json")
    for name in found.names() if not found.of_topics else ():
        payloads += [one.payload for one in found.records_of(name, feed, 3) if one.payload]
    near = nearest_in_words(payloads)
    if near is None and (rows := rows_in_words(_texts(found.objects))) is not None:
        near = (
            f"{rows}: the nearest is arcion_s3_csv, which reads rows of snapshots, and takes others for changes where"
            " they end in opType, cursor and operationcount. --format arcion_s3_csv takes them for such rows"
        )
    return "; ".join([begins_with(found), *([near] if near else [])])


def begins_with(found: Sample) -> str:
    """What stands at the beginning of the first drops, as a phrase."""
    parts = []
    for name in islice(found.names(), 3):
        if found.of_topics:
            payload = next(one.payload for one in found.of_topics if one.object == name) or b""
        else:
            payload = next(one.data for one in found.objects if one.object.name == name)
        parts.append(f"{name} begins with {payload[:40]!r}")
    return "; ".join(parts)


def feed_of(found: Sample, evidence: Evidence, files: str | None) -> Feed:
    """The feed before any table is declared; ``files``: which objects are drops, where a person says so."""
    feed = replace(found.feed, format=evidence.format, files=files)
    if not FORMATS[feed.format].reads_csv:
        feed = replace(feed, csv=USUAL_CSV)
    known = [*evidence.objects] or found.names()
    usual = FORMATS[evidence.format].files
    is_usual = all(any(matches(name, glob) for glob in usual) for name in known)
    if found.of_topics or files is not None or is_usual:
        return feed
    return replace(feed, files=glob_of(known))


def glob_of(names: Sequence[str]) -> str:
    """A glob that all of these objects fit: by the end of their names where they share it."""
    ends = Counter(PurePosixPath(name).suffix for name in names)
    ((end, count),) = ends.most_common(1)
    return f"**/*{end}" if end and count == len(names) else "**"
