"""From a sample to the feed that would read it: its format, and which of the objects are its drops.

Put here how a sample is shown to the formats. Not here: the sample (``sampling``), and how marks are weighed
(``transforms/proposing/recognising``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import PurePosixPath
from typing import Final

from assets.onboarding.sampling import Sample
from transforms.feed.feed import Feed
from transforms.feed.object_paths import matches
from transforms.formats import FORMATS
from transforms.proposing.recognising import Evidence, recognised

_LOOKED_AT: Final = 100
"""So many records of each object are looked at for the marks of every format."""


def recognise(found: Sample, format_name: str | None) -> Evidence:
    """The format of the sample, by its marks or because it is asked for.

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
    return recognised(found.feed.landing, every, begins_with(found))


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
