"""What the metadata of an asset's events, and of a check's results, mean: a sentence for each key, by kind of asset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import dagster as dg

from assets.columns.described.accounts import ACCOUNTING
from assets.shown_markdown import as_metadata
from transforms.display.markdown import own_head, own_words, table
from transforms.silver.accounting import COUNTS

EXPLAINED: Final = "what_these_mean"
"""Under this name the page of an asset has the table of the keys that its events have."""

_STEP: Final = {
    "seconds": "How long the step worked on it.",
    "executor": "Who did the work: this process (`in-process`), Spark (`spark`), or both.",
}
_DATA_DOCS: Final = {"data_docs": "Leads to the pages of what the feed's checks have found."}
_FOLDED: Final = {
    **_STEP,
    **_DATA_DOCS,
    "nothing_landed": "The window was in a backfill, and nothing landed in it: it changed no row.",
    "changes": "How many changes the window brought.",
    "windows_of_run": "The windows whose changes the run folded at once; all that follows is of these together.",
    "changes_applied": "How many changes the run brought.",
    "in_gold_already": "How many of them the table had from an earlier run.",
    "superseded": "How many stand before their key's newest change, and changed nothing.",
    "keys_changed": "How many keys got another row, or lost theirs.",
    "keys_refolded": "How many keys were made again from all of their changes.",
    "keys_with_late_events": "How many keys were changed by an event that is older than what they had.",
    "keys_with_ties": "How many keys have two different events at one position.",
    "tables": "Of each table that was written: rows, tombstones, and what deletes of many rows removed.",
    "waits_for": "How many windows have to be derived again before the table follows its new declaration.",
}

MEANINGS: Final[Mapping[str, Mapping[str, str]]] = {
    "bronze": {
        **_STEP,
        "objects": "How many objects of the window were new.",
        "bytes": "How large they are as they landed.",
        "landing_lag_seconds": "How long after the window's end the last of them landed.",
        "replaced_objects": "How many objects had been read before, and were written over since.",
        "replaced": "Which these are.",
        "left_out": "Objects of the landing that are no drops of this feed.",
        "records": "How many records of the window were new.",
        "records_read": "How many records the run read, of whatever window.",
        "offsets": "Up to where each partition of each topic was read.",
        "records_by_window": "How many records each window got.",
        "windows_beyond": "Windows that got records and were not asked for.",
        "warnings": "What was noticed about the topics.",
    },
    "silver": {
        **_STEP,
        **_DATA_DOCS,
        **{name: ACCOUNTING[name] for name in COUNTS},
        "accounting": "The same numbers for each table of the source.",
        "accounts": "The same for programs.",
        "source_lag_seconds": "How old the newest event was when the window ended.",
        "new_in_stream": "What no window had before and the feed file does not declare, with the lines to paste.",
    },
    "gold": _FOLDED,
    "undeclared": {
        **_FOLDED,
        "described": "The tables that only the stream describes, each with its key and columns.",
    },
    "nodes": _STEP,
    "graph": _STEP,
    "offsets": {"offsets": "How far each tablet's consumer has come."},
    "progress": {
        "windows": "How many windows the run finished.",
        "objects": "How many objects or records they hold.",
    },
    "report": {
        "seconds": _STEP["seconds"],
        "page": "The report, as a page with plots.",
        "file": "Where the page is stored.",
        "rows": "How many rows all gold tables of the feed have.",
        "tombstones": "How many tombstones they have.",
        "late_changes": "How many changes the source made before the window began.",
        "seconds_to_gold": "How long after its end the window was in gold.",
        "new_in_stream": "What no window had before and the feed file does not declare, with the lines to paste.",
        "not_made": "Why the page could not be made.",
    },
    "compaction": {
        "changes_folded": "How many changes of silver became part of a base row.",
        "tombstones_dropped": "How many tombstones were removed, as nothing needs them.",
        "tables": "The same for each gold table, and what keeps its history from being folded further.",
    },
}
"""By the first part of an asset's key; keys of Dagster's own are explained by Dagster."""

OF_CHECKS: Final = (
    "Below, where there is something to say: `violations` says how often the run breaks it, `at_most` how often it may,"
    " `windows` which windows were looked at, `found` what was seen first, and `data_docs` leads to the page of all"
    " results of this table."
)
"""Ends the description of a built-in check."""

OF_EXPECTATIONS: Final = (
    "Below, where there is something to say: `observed` is the value that was found, `rows` how many rows were"
    " asked, `violations` how many of them break it, `found` some of these, and `data_docs` leads to the page of all"
    " results of this table."
)
"""Ends the description of a check that a feed file declares."""


def explained(kind: str) -> dict[str, dg.MarkdownMetadataValue]:
    """The metadata of an asset's definition that explains that of its events; none for a kind that has none.

    ``kind``: the first part of the asset's key.
    """
    meanings = MEANINGS.get(kind)
    if not meanings:
        return {}
    rows = [(name, own_words(meaning)) for name, meaning in meanings.items()]
    return {EXPLAINED: as_metadata(table(own_head("name", "meaning"), rows))}
