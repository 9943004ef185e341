"""A warehouse that both engines read: tables of every kind of change and of every type, some compacted, new windows.

Gold has the first windows; of those that are due some came again, and silver has all of them.
"""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from assets.bronze import from_objects
from assets.control import compacted, progress
from assets.control.compacted import NewBase
from assets.executors.choice import IN_PROCESS
from assets.executors.in_process import InProcess
from assets.gold import apply, tables
from assets.gold.fold import TableFold
from assets.gold.plan import FeedPlan, TablePlan, plan_of
from assets.gold.silver_in_process import SilverInProcess
from assets.silver import derive
from assets.storage.lake import Lake
from orchestration.resources import lake_of
from tests.executors import typed_events
from tests.laws.drawn import model_histories
from tests.support import tigergraph_store
from tests.support.tigergraph_store import Store
from transforms.compaction_watermarks import CompactionWatermark
from transforms.feed.feed import Feed, Table

WINDOWS = [f"2024-11-20T{hour:02}" for hour in range(4)]
IN_GOLD, DUE = WINDOWS[:2], WINDOWS[1:]
COMPACTED = ("item", "log", "typed")
COMPACTION_WATERMARK = CompactionWatermark((0, 1, 12))
DUE_TABLES = (
    *(f"kinds.{name}" for name in ("item", "edge", "triple", "log", "account", "stock", "replica")),
    *(f"kinds.{table.name}" for table in typed_events.TABLES),
    *("graphs.vertex_Person", "graphs.edge_Knows", "described.pets"),
    *("marked.item", "marked.stock"),
)
"""The gold tables that are compared, each with its feed's name: of every kind of source one, and of every type."""
CASES, KEYS, STORES, ACTIONS = 12, 30, 3, 60


@dataclass(frozen=True, slots=True)
class Due:
    """One gold table that is due: in which warehouse, and what is known of it before the work."""

    lake: Lake
    plan: TablePlan

    @property
    def table(self) -> Table:
        """The declared table."""
        return self.plan.table

    @property
    def name(self) -> str:
        """The gold table."""
        return self.plan.name

    def copied(self, folder: Path) -> Due:
        """The same table in a copy of its warehouse."""
        shutil.copytree(self.lake.warehouse, folder)
        return replace(self, lake=lake_of(str(folder)))


def models(folder: Path) -> Feed:
    """A feed with tables of all kinds of change, and of all types, laid out as drops, one per window."""
    lines: dict[str, list[object]] = defaultdict(list)
    for kind in model_histories.KINDS:
        for seed in range(CASES):
            events = model_histories.history(kind, seed, f"{kind}-{seed}", 4 + seed % 20)
            _deliver(lines, events, seed)
    _deliver(lines, typed_events.events(0, KEYS), 0)
    # Streams may lag behind one another, but a window is read as a whole.
    Random("order").shuffle(lines[WINDOWS[0]])
    _lay(folder, lines)
    tables = [
        Table(one.name, one.key, one.columns, tuple(one.columns), defaults=one.defaults)
        for one in model_histories.TABLES.values()
    ]
    tables = [replace(one, history=one.name == "item") for one in tables]
    every = {one.name: one for one in (*tables, *typed_events.TABLES)}
    return Feed("kinds", "model", str(folder), tables=every)


def marked(folder: Path) -> Feed:
    """The same drops, of two tables whose deleted rows stay."""
    feed = models(folder)
    tables = {name: replace(feed.tables[name], deletes="mark") for name in ("item", "stock")}
    return replace(feed, name="marked", tables=tables)


def _deliver(lines: dict[str, list[object]], events: list[Any], seed: int) -> None:
    arrived = model_histories.deliveries(events, seed, windows=len(WINDOWS))
    for at, some in arrived.items():
        lines[WINDOWS[at]] += map(model_histories.to_record, some)


def graph(folder: Path) -> Feed:
    """A feed of graph stores of several partitions, whose range deletes reach other streams."""
    lines: dict[str, list[object]] = defaultdict(list)
    rng = Random("graph")
    store = Store(rng, partitions=STORES)
    for _ in range(ACTIONS):
        store.act()
    for at, message in enumerate(store.sent):
        place = min(at * len(WINDOWS) // len(store.sent) + rng.choice((0, 0, 0, 1)), 3)
        lines[WINDOWS[place]].append(message)
        if rng.random() < 0.2:
            lines[rng.choice(WINDOWS)].append(message)
    _lay(folder, lines)
    return replace(tigergraph_store.FEED, name="graphs", landing=str(folder))


def described(folder: Path) -> Feed:
    """A feed whose stream describes its tables, with changes that wait and columns that gold spells otherwise."""
    odd = {"Id": "int", "unit price": "int", "a.b": "string", "note": "string"}
    told = {
        "key": ["Id"],
        "columns": [{"name": name, "type": kind} for name, kind in odd.items()],
    }
    rng = Random("described")
    lines: dict[str, list[object]] = defaultdict(list)
    for at in range(160):
        effect = rng.choice(("replace", "replace", "update", "remove"))
        image = {
            "Id": rng.choice(("1", "02", "3", " 4", "5", "no number")),
            "unit price": rng.choice(("1", "007", None)),
            "a.b": rng.choice(("x", "", None)),
            "note": f"at {at}",
        }
        if effect == "update":
            del image[rng.choice(("unit price", "a.b", "note"))]
        number = at // 40
        # The first window tells no schema, so that its changes wait.
        tells = number > 0 and rng.random() < 0.7 and image["Id"] != "no number"
        line = {
            **{"table": "pets", "operation": effect, "effect": effect, "dedup_prefix": 3},
            **{"before": image if effect == "remove" else {}, "event_at_ms": 1000 * at},
            **{"after": {} if effect == "remove" else image, "log_position": [0, 1, at]},
            **{"identity": [str(at)], "told": told if tells else None},
        }
        lines[WINDOWS[number]].append(line)
        if rng.random() < 0.2:
            lines[rng.choice(WINDOWS)].append(line)
    _lay(folder, lines)
    return Feed("described", "telling", str(folder))


def _lay(folder: Path, lines: dict[str, list[object]]) -> None:
    for window, some in lines.items():
        file = folder / window.replace("T", "/") / "part_1.jsonl"
        file.parent.mkdir(parents=True)
        file.write_text("".join(f"{json.dumps(one)}\n" for one in some))


def made(folder: Path) -> dict[str, Due]:
    """The due tables of all feeds, each of these in a warehouse of its own; a table's name says its feed's, too."""
    found: dict[str, Due] = {}
    for draw in (models, graph, described, marked):
        feed = draw(folder / "landings" / draw.__name__)
        lake = lake_of(str(folder / feed.name)).by(IN_PROCESS)
        _to_silver(lake, feed, IN_GOLD)
        _to_gold(lake, feed, IN_GOLD)
        for name in COMPACTED:
            if name in feed.tables:
                _compact(lake, feed, feed.tables[name])
        _to_silver(lake, feed, [one for one in DUE if one not in IN_GOLD])
        known = FeedPlan.read(lake, feed, DUE)
        for name, table in tables.mirrors(lake, known.feed).items():
            found[f"{feed.name}.{name}"] = Due(lake, known.of_table(table, name))
    return found


def _to_silver(lake: Lake, feed: Feed, windows: Sequence[str]) -> None:
    from_objects.land(lake, feed, windows)
    derive.derive(lake, feed, windows)


def _to_gold(lake: Lake, feed: Feed, windows: Sequence[str]) -> None:
    for table in {one.name: one for one in tables.mirrors(lake, feed).values()}.values():
        apply.apply(lake, feed, table, windows)
    progress.finish(lake, feed, windows)


def _compact(lake: Lake, feed: Feed, table: Table) -> None:
    """Give the table a base and a watermark; a compaction does so by Spark, and removes from silver what is below."""
    plan = plan_of(lake, feed, table, table.name, [])
    below = replace(SilverInProcess.of(lake, plan), up_to=COMPACTION_WATERMARK)
    rows = TableFold.of(InProcess(), plan, below).to_base()
    states = lake.spark.createDataFrame(rows)
    base = NewBase(table.name, table, states, COMPACTION_WATERMARK, IN_GOLD[-1])
    compacted.write_base(lake, feed, base)
