"""Schema drift in words: what is new, and what to paste into the feed file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from transforms.display import yaml_scalar
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
        elif renamed := _but_for_the_case(feed, one):
            yield "  Its values wait in silver. The feed file has the name in other letters; to take it as that, paste:"
            yield from (
                "    tables:",
                f"      {yaml_scalar(one.table, in_brackets=True)}:",
                "        renamed:",
            )
            yield from (f"          {line}" for line in renamed)
            continue
        else:
            yield "  Its values wait in silver. The types are guesses from its values; to take it in, paste:"
        yield from (f"    {line}" for line in lines_to_paste(one))


def _but_for_the_case(feed: Feed, drift: Drift) -> list[str]:
    """Lines below ``renamed``, for columns whose names are declared ones in small or in capital letters.

    Declared beside each other they would be refused, since Spark takes such names for one.
    """
    declared = feed.tables[drift.table].columns if drift.table in feed.tables else {}
    folded = {name.casefold(): name for name in declared}
    return [
        f"{yaml_scalar(name, in_brackets=True)}: {yaml_scalar(folded[name.casefold()], in_brackets=True)}"
        for name in drift.columns
        if name.casefold() in folded
    ]
