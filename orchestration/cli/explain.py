"""``weir explain``: why a row is as it is, event by event.

Put here which key is meant and what is looked up. Not here: the lines that are printed (``explain_story``), and what
the events did (``assets/audit/explain``).
"""

from __future__ import annotations

import json
from dataclasses import asdict

from assets.audit.explain import explained
from assets.bookkeeping import discovered_tables
from assets.gold import gold_tables
from assets.wording import counted
from orchestration.cli import session
from orchestration.cli.explain_story import is_anything_known, story
from orchestration.cli.options import Place
from orchestration.console import put_json, put_lines, waiting
from orchestration.feeds.faults import nearest
from transforms.errors import UnknownKey
from transforms.feed.feed import Table


def explain(place: Place, feed_name: str, table_name: str, key: str, as_json: bool = False) -> int:
    """Print the story of one key; returns the exit code: 0, or 1 where nothing is known of it.

    Args:
        place: the feed files and the warehouse.
        feed_name: the feed.
        table_name: its gold table.
        key: as a person typed it.
        as_json: whether the story is printed as one JSON object.

    Raises:
        UnknownKey: there is no such table, or the key has other parts than the table's keys.
    """
    feed, lake = session.reached_feed(place, feed_name)
    tables = gold_tables.mirrors(lake, feed)
    if stopped := discovered_tables.stopped(lake, feed).get(table_name):
        raise stopped.fault
    if table_name not in tables:
        hint = nearest(table_name, tables)
        raise UnknownKey(
            f"feed {feed.name} has no gold table {table_name!r}{hint}; it has {', '.join(tables) or 'none yet'}"
        )
    table = tables[table_name]
    parts = key_parts(key, table)
    with waiting("reading the key's history"):
        key_story = explained(lake, feed, table, table_name, parts)
    name = f"gold.{feed.name}.{table_name}"
    if as_json:
        put_json({"table": name} | asdict(key_story), indent=None)
    else:
        put_lines(story(name, table, key_story))
    return 0 if is_anything_known(key_story) else 1


def key_parts(key: str, table: Table) -> list[str | None]:
    """The parts of a key that was typed as a JSON array, or as texts with commas between them.

    Raises:
        UnknownKey: it is no JSON array, or has another number of parts than the table's keys.
    """
    if key.startswith("["):
        try:
            parts = json.loads(key)
        except ValueError as fault:
            raise UnknownKey(f"the key {key} is no JSON array: {fault}") from None
        texts = [
            part if part is None or isinstance(part, str) else json.dumps(part) for part in parts
        ]
    else:
        texts = list(key.split(",")) if len(table.identity) > 1 else [key]
    if len(texts) != len(table.identity):
        raise UnknownKey(
            f"the key has {counted(len(table.identity), 'part')} ({', '.join(table.identity)}), and {key!r} gives"
            f" {len(texts)}; write them with commas between, or as a JSON array"
        )
    return texts
