"""The events that a format makes of records, without Spark: records that need their neighbours are resolved, too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from transforms.event import Event, Pending
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.record import BronzeRecord

LANDED_AT = 1_763_611_200_000_000


def records_of(feed: Feed, drop: Mapping[str, bytes], window: str = "w") -> list[BronzeRecord]:
    """The records that the objects of a drop are cut into."""
    return [
        BronzeRecord(
            *(window, name, "generation", one.line, one.byte_offset, one.header, one.payload),
            *(one.defect, LANDED_AT),
        )
        for name, data in drop.items()
        for one in FORMATS[feed.format].split(data, feed, name)
    ]


def decoded(feed: Feed, records: Iterable[BronzeRecord]) -> list[tuple[BronzeRecord, Event]]:
    """The events of the records: windows never meet."""
    found: list[tuple[BronzeRecord, Event]] = []
    groups: dict[tuple[object, ...], list[tuple[BronzeRecord, Pending]]] = {}
    decoder, resolver = FORMATS[feed.format].decoder, FORMATS[feed.format].resolver
    decode = decoder(feed, {})
    for record in records:
        for one in decode(record):
            if isinstance(one, Pending):
                groups.setdefault((record.window, *one.group), []).append((record, one))
            else:
                found.append((record, one))
    for waiting in groups.values():
        assert resolver is not None
        waiting.sort(key=lambda pair: pair[1].order)
        events = resolver(feed)([one.content for _, one in waiting])
        found += zip([record for record, _ in waiting], events, strict=True)
    return found
