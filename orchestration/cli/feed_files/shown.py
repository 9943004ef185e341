"""How a landing's windows read, and a preview of gold: a few rows of each table, and what would go to quarantine.

Put here how it looks. Not here: the preview itself (``assets/onboarding/previewing``).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from assets.onboarding.previewing import Preview, PreviewTable
from assets.wording import counted
from orchestration.sheets import Grid, Sheet
from transforms.feed.feed import Feed
from transforms.proposing.landing_windows import LandingWindows

_MOST_RULES: Final = 5
_BY_TIME: Final = (
    "by when an object was last modified, as its path has no date that is known (the key window_path of the feed file"
    " can name the place of one)"
)
_MOST_ROWS: Final = 5
_MOST_TABLES: Final = 20
_MOST_COLUMNS: Final = 8
_WIDEST: Final = 24


def windows_in_words(found: LandingWindows) -> Iterator[str]:
    """How many windows there are, and a line for each part of the paths that says them, with an object."""
    if not found.names:
        return
    first, last = found.names[0], found.names[-1]
    span = first if first == last else f"{first} to {last}"
    yield f"{counted(len(found.names), 'window')} of one {found.size}, {span}:"
    for rule in found.rules[:_MOST_RULES]:
        by = f"by {rule.shape} in the path" if rule.shape else _BY_TIME
        counts = f"{counted(rule.windows, 'window')}, {counted(rule.objects, 'object')}"
        yield f"  {by}: {counts}; {rule.example} is of {rule.window}"
    if more := found.rules[_MOST_RULES:]:
        yield f"  and {counted(sum(one.objects for one in more), 'object')} by {len(more)} other ways"


def show(feed: Feed, found: Preview, *, to_stdout: bool) -> None:
    """Print the preview; to standard error, where standard output has the feed file."""
    sheet = Sheet() if to_stdout else Sheet.of_progress()
    line = sheet.line
    counts = found.counts
    line("")
    line(
        f"Preview of gold, from {counted(found.records, 'record')} of the sample: {counts['events']:,} events"
        f" = {counts['changes']:,} changes + {counts['duplicates']:,} duplicates"
        f" + {counts['quarantined']:,} quarantined + {counts['control'] + counts['held']:,} other."
    )
    for table in found.tables[:_MOST_TABLES]:
        line("")
        deleted = f", {table.deleted:,} deleted" if table.deleted else ""
        line(f"gold.{feed.name}.{table.name}: {counted(table.rows.num_rows, 'row')}{deleted}")
        if table.rows.num_rows:
            sheet.grid(as_table(table))
    if len(found.tables) > _MOST_TABLES:
        line(f"and {len(found.tables) - _MOST_TABLES} more tables")
    if not found.tables:
        line("No gold table would come of it.")
    line("")
    for reason in found.quarantined:
        line(
            f"quarantine: {reason.count:,} {reason.reason}, the first {reason.source_location}: {reason.detail}"
        )
    for name, count in sorted(found.waiting.items()):
        line(f"waiting: {counted(count, 'change')} of {name}, which is not declared")
    for sentence in found.stopped:
        line(f"stopped: {sentence}")
    for word, count in sorted(found.warnings.items()):
        line(f"noticed: {word} {count:,}")


def as_table(table: PreviewTable) -> Grid:
    """The first rows and columns of a table."""
    shown = Grid()
    names = table.rows.column_names
    for name in names[:_MOST_COLUMNS]:
        shown.column(name, "anywhere")
    if len(names) > _MOST_COLUMNS:
        shown.column(f"and {len(names) - _MOST_COLUMNS} more", "between words")
    for row in table.rows.slice(0, _MOST_ROWS).to_pylist(maps_as_pydicts="strict"):
        cells = [_text(row[name]) for name in names[:_MOST_COLUMNS]]
        shown.row(*cells, *(["…"] if len(names) > _MOST_COLUMNS else []))
    if table.rows.num_rows > _MOST_ROWS:
        shown.row("…")
    return shown


def _text(value: object) -> str:
    if isinstance(value, datetime):
        value = value.replace(tzinfo=None)
    text = "" if value is None else str(value)
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"
