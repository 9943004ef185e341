"""Open records of a run's windows, as Dagster's page of the check ``nothing_quarantined`` shows them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from assets.bookkeeping.quarantine import words
from assets.bookkeeping.quarantine.known_records import sampled
from assets.bookkeeping.quarantine.payloads import payloads
from assets.bookkeeping.quarantine.words import Grouped
from assets.lake import Lake
from assets.layers import Layer
from assets.wording import counted
from expectations.quarantine import remedy
from transforms.display.markdown import (
    NOTHING,
    Markdown,
    bullets,
    code_block,
    own_words,
    paragraphs,
)
from transforms.feed.feed import Feed
from transforms.silver.conforming.faults import MISFIT, misfits_told

REASONS: Final = 10
"""So many reasons are shown, the most frequent ones."""

SHOWN: Final = 5
"""So many records are shown of each reason."""

LOOKED_AT: Final = 10_000
"""So many rows of quarantine are looked at: a run has no time for millions."""


def of_windows(lake: Lake, feed: Feed, windows: Sequence[str]) -> Markdown:
    """The open records of these windows by reason; empty where there is none.

    The first lines, up to a blank one, say it in short; below are the records and the commands to type.
    ``feed``: with its recorded decisions.
    """
    quarantine = lake.in_process_table(Layer.QUARANTINE, feed.name)
    found = sampled(quarantine, feed, windows, LOOKED_AT)
    groups = words.grouped(found.records)[:REASONS]
    if not groups:
        return NOTHING
    shown = [one for group in groups for one in group.records[:SHOWN]]
    in_short = [line for group in groups for line in (_in_short(group), *_by_column(group))]
    if not found.is_all:
        in_short.append(f"(these are the first {LOOKED_AT:,} events; there are more)")
    contents = words.hidden(shown) if feed.masks_columns else payloads(quarantine, shown)
    parts = [
        bullets(in_short),
        words.as_markdown(groups, contents, SHOWN),
        *_commands(feed, groups),
    ]
    return paragraphs(parts)


def _in_short(group: Grouped) -> str:
    first = group.records[0]
    of = f"{first.table}: " if first.table else ""
    number = counted(len(group.records), "record")
    return (
        f"{group.reason}: {number}; first {first.id[: words.ID]}, {first.where}, {of}{first.detail}"
    )


def _by_column(group: Grouped) -> Iterator[str]:
    """How often which column had a value that does not fit it, with an example, the most frequent ones first."""
    if group.reason != MISFIT or len(group.records) == 1:
        return
    counts, examples = Counter[str](), dict[str, str]()
    for record in group.records:
        of = f"{record.table}." if record.table else ""
        for one in misfits_told(record.detail):
            name = f"{of}{one.column}"
            counts[name] += 1
            examples.setdefault(name, f"no {one.kind}, such as {one.value}")
    for name, count in counts.most_common(REASONS):
        yield f"{name}: {counted(count, 'value')} {'is' if count == 1 else 'are'} {examples[name]}"


def _commands(feed: Feed, groups: Sequence[Grouped]) -> Iterator[Markdown]:
    """What can be typed, and what to do about the first record of each reason."""
    first = groups[0].records[0].id[: words.ID]
    yield code_block(f"weir quarantine list {feed.name}\nweir quarantine show {feed.name} {first}")
    # Reasons and remedies are Weir's own; an id is a digest.
    yield bullets(
        own_words(
            f"{group.reason}: {remedy(group.reason, feed.name, group.records[0].id[: words.ID])}"
        )
        for group in groups
    )
