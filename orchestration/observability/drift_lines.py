"""Schema drift in words: what is new, and what to paste into the feed file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from transforms.display import yaml_scalar
from transforms.feed.feed import Feed
from transforms.near_names import but_for_case
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
            yield "  Gold takes it as the stream describes it, unless a check stops the table."
            continue
        elif one.kind == "table":
            # What is proposed of a whole table is told where all that wait are, and only there.
            yield (
                "  Its changes wait in silver until the feed file declares it. `weir run` ends with the lines to paste,"
                " which the check tables_are_declared has, too."
            )
            continue
        elif others := but_for_case(one.columns, _declared_columns(feed, one.table)):
            # Declared beside each other they would be refused, since Spark takes such names for one.
            yield "  Its values wait in silver. The feed file has the name in other letters; to take it as that, paste:"
            yield from ("    tables:", f"      {yaml_scalar(one.table, in_brackets=True)}:")
            pairs = [
                [yaml_scalar(name, in_brackets=True) for name in pair] for pair in others.items()
            ]
            yield f"        renamed: {{{', '.join(f'{name}: {declared}' for name, declared in pairs)}}}"
            continue
        else:
            yield "  Its values wait in silver. The types are guesses from its values; to take it in, paste:"
        yield from (f"    {line}" for line in lines_to_paste(one))


def _declared_columns(feed: Feed, table: str) -> Iterable[str]:
    return feed.tables[table].columns if table in feed.tables else ()
