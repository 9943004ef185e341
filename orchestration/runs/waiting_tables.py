"""Tables whose changes wait in silver because nothing names their key, and the lines to paste into the feed file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assets.silver.undeclared_tables import lines_to_paste
from assets.storage.lake import Lake, Layer
from assets.wording import counted
from transforms.feed.feed import Feed
from transforms.formats import FORMATS
from transforms.near_names import nearest


@dataclass(frozen=True, slots=True)
class Waiting:
    """Changes of tables that nobody declares: how many, by the source's name, and in which windows."""

    changes: Mapping[str, int]
    windows: frozenset[str]

    @classmethod
    def of(cls, accounts: Iterable[Mapping[str, Any]]) -> Waiting:
        """Those that these accounts tell of."""
        own = [row for row in accounts if row["declared"] is None and row["changes"]]
        found: Counter[str] = Counter()
        for row in own:
            found[row["source_table"]] += row["changes"]
        return cls(found, frozenset(row["window"] for row in own))


def still_waiting(lake: Lake, feed: Feed, feeds: Path) -> Iterator[str]:
    """What ``in_words`` says where no run was needed, for tables that waited before."""
    return in_words(lake, feed, Waiting.of(_accounts(lake, feed)), feeds)


def _accounts(lake: Lake, feed: Feed) -> list[dict[str, Any]]:
    accounts = lake.in_process_table(Layer.ACCOUNTING, feed.name)
    return accounts.rows(["window", "source_table", "declared", "changes", "events"])


def in_words(lake: Lake, feed: Feed, waiting: Waiting, feeds: Path) -> Iterator[str]:
    """What to do about tables whose key nothing names."""
    if not waiting.changes:
        return
    counts = sorted(waiting.changes.items())
    names = ", ".join(f"{name} ({counted(count, 'change')})" for name, count in counts)
    yield f"{feed.name}: not declared, so that the changes wait in silver: {names}"
    yield from _meant(lake, feed, waiting.changes, feeds)
    lines = lines_to_paste(lake, feed, waiting.windows)
    has_tables = bool(feed.tables) and FORMATS[feed.format].declares[0] == "tables"
    if has_tables:
        # The file has the key already: what is in it goes below the others.
        lines = [line for line in lines if line.startswith((" ", "#"))]
    where = f"{_file(feeds, feed)}{', below `tables`' if has_tables else ''}"
    yield f"{feed.name}: look over these lines, paste them into {where}, and run again:"
    yield from (f"    {line}" for line in lines)


def _meant(lake: Lake, feed: Feed, waiting: Collection[str], feeds: Path) -> Iterator[str]:
    """Which declared tables may be misspelt: no event ever came of them, and a table that waits has a name like it."""
    met = {row["declared"] for row in _accounts(lake, feed) if row["events"]}
    unmet = [name for name in feed.tables if name not in met]
    for name in sorted(waiting):
        if declared := nearest(name, unmet):
            yield (
                f"{feed.name}: no event ever came of table {declared}, which {_file(feeds, feed)} declares, and the"
                f" stream has {name}; did you mean that? Then correct the name there, and paste no lines for it."
            )


def _file(feeds: Path, feed: Feed) -> str:
    for end in (".yaml", ".yml"):
        if (feeds / f"{feed.name}{end}").exists():
            return str(feeds / f"{feed.name}{end}")
    return f"feeds/{feed.name}.yaml"
