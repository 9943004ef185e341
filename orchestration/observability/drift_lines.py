"""Schema drift in words: what is new, and what to paste into the feed file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from transforms.feed.feed import Feed
from transforms.silver.schema_drift import Drift, lines_to_paste

NEW_DRIFT = "new_in_stream"
"""Under this name the metadata of a run's events have it."""


def drift_lines(feed: Feed, drift: Iterable[Drift]) -> Iterator[str]:
    """What is new, each with the lines that take it in; of a table that waits, where they are."""
    for one in drift:
        yield f"{feed.name}: {one.says}"
        if one.is_described and one.kind == "table":
            yield "  It is in gold as the stream describes it. To fix its types and its key, paste:"
        elif one.is_described:
            yield "  Gold takes it as the stream describes it; nothing has to be done."
            continue
        elif one.kind == "table":
            # What is proposed of a whole table is told where all that wait are, and only there.
            yield (
                "  Its changes wait in silver until the feed file declares it. `weir run` ends with the lines to paste,"
                " which the check tables_are_declared has, too."
            )
            continue
        else:
            yield "  Its values wait in silver. The types are guesses from its values; to take it in, paste:"
        yield from (f"    {line}" for line in lines_to_paste(one))
