"""Positions that begin again are told with the command to type; what is late, or comes again, is not taken for them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from assets.bronze import from_objects
from assets.control import decisions
from assets.silver import checks, derive
from assets.storage.lake import Lake
from orchestration.resources import lake_of
from tests.support.pet_feed import lay
from transforms.feed.decisions import Epoch
from transforms.feed.feed import Feed, Predicate, Table, VertexType
from transforms.formats import FORMATS

RULE = "position_rises_with_source_time"
THREE, FOUR, FIVE = (f"2026-11-20T0{hour}" for hour in (3, 4, 5))


def moment(minute: float) -> int:
    """Milliseconds since 1970 of a minute after three o'clock."""
    return 1_795_143_600_000 + round(minute * 60_000)


class Source:
    """A feed's landing and warehouse."""

    def __init__(self, tmp_path: Path, feed: Feed) -> None:
        self.folder = tmp_path / "landing"
        self.lake: Lake = lake_of(str(tmp_path / "warehouse"))
        self.feed = feed

    def brings(self, window: str, name: str, records: Iterable[Mapping[str, Any]]) -> None:
        """Lay an object with one record a line."""
        lines = "".join(json.dumps(one) + "\n" for one in records)
        lay(self.folder, f"{window.replace('T', '/')}/{name}", lines.encode())

    def told(self, *windows: str) -> str:
        """What the check says of a run of these windows; nothing where it passes."""
        from_objects.land(self.lake, self.feed, windows)
        made = derive.derive(self.lake, self.feed, windows)
        assert made.violations["accounting_is_exact"] == 0
        if not made.violations[RULE]:
            return ""
        return str(checks.samples(self.lake, made.findings)[RULE]).strip("- `") + "`"

    def opens(self, epoch: Epoch) -> None:
        """Record what the check's command records."""
        decisions.open_epoch(self.lake, self.feed, epoch, datetime(2026, 11, 21, tzinfo=UTC), None)


def debezium(tmp_path: Path) -> Source:
    table = Table("pets", ("id",), {"id": "int", "name": "string"}, ("id", "name"))
    tables = {"pets": table}
    return Source(tmp_path, Feed("zoo", "debezium", str(tmp_path / "landing"), tables=tables))


def pet(
    at: float, source: Mapping[str, Any], read: float | None = None, **more: Any
) -> dict[str, Any]:
    """A row that is created: made at this minute, and read then or at another one."""
    made = moment(at)
    return {
        "op": "c",
        "ts_ms": made + 20 if read is None else moment(read),
        "before": None,
        "after": {"id": source.get("id", 1), "name": f"of {at}"},
        "source": {"schema": "zoo", "table": "pets", "ts_ms": made, **source},
        **more,
    }


def postgres(at: float, lsn: int, read: float | None = None) -> dict[str, Any]:
    where = {"connector": "postgresql", "lsn": lsn, "sequence": f'["{lsn - 1}","{lsn}"]'}
    return pet(at, {**where, "id": lsn}, read)


HIGH = [postgres(at, 1_000 + at) for at in range(10)]
LOW = [postgres(30 + at, 100 + at) for at in range(5)]


def test_a_restored_postgres_is_told_within_one_window(tmp_path: Path) -> None:
    zoo = debezium(tmp_path)
    zoo.brings(THREE, "a.json", [*HIGH, *LOW])
    assert zoo.told(THREE) == (
        "pets: changes in window 2026-11-20T03, made from 2026-11-20 03:30:00 UTC on, stand below others made until"
        " 2026-11-20 03:09:00 UTC; the first at 100/1/100: `weir epoch open zoo --table pets --window 2026-11-20T03"
        " --time 2026-11-20T03:30:00`"
    )
    zoo.opens(Epoch(THREE, table="pets", time=datetime(2026, 11, 20, 3, 30, tzinfo=UTC)))
    assert zoo.told(THREE) == ""


def test_late_and_repeated_changes_and_long_transactions_are_no_reset(tmp_path: Path) -> None:
    zoo = debezium(tmp_path)
    zoo.brings(THREE, "a.json", HIGH)
    late = [postgres(at / 10 - 9, 900 + at) for at in range(5)]
    again = [postgres(at, 1_000 + at, read=90) for at in range(5)]
    # Transactions that began before all others, and ended behind them.
    slow = [postgres(-at, 2_000 - at, read=50 - at) for at in range(5)]
    zoo.brings(THREE, "b.json", [*late, *again, *slow])
    zoo.brings(FOUR, "c.json", [*late, *again, *[postgres(61 + at, 3_000 + at) for at in range(5)]])
    assert zoo.told(THREE) == ""
    assert zoo.told(FOUR) == ""


def of_topic(partition: int, offset: int, record: Mapping[str, Any]) -> dict[str, Any]:
    key = {"id": offset}
    return {"topic": "t", "partition": partition, "offset": offset, "key": key, "value": record}


def vitess(at: float, offset: int, partition: int = 0, read: float | None = None) -> dict[str, Any]:
    """A row of a source whose changes stand as in their topic."""
    record = pet(at, {"connector": "any", "id": offset}, read)
    return of_topic(partition, offset, record)


@pytest.mark.parametrize("windows", [(THREE, THREE), (THREE, FOUR)])
def test_offsets_that_begin_again_are_told(tmp_path: Path, windows: Sequence[str]) -> None:
    zoo = debezium(tmp_path)
    zoo.brings(windows[0], "a.json", [vitess(at, 500 + at) for at in range(5)])
    # Another partition has its own offsets.
    zoo.brings(windows[0], "b.json", [vitess(at, 3 + at, 1) for at in range(9)])
    # What is late or comes again is no reset.
    late = [vitess(at - 20, 400 + at, read=at - 19) for at in range(5)]
    again = [vitess(at, 500 + at, read=at + 0.1) for at in range(5)]
    zoo.brings(windows[0], "late.json", [*again, *late])
    assert zoo.told(windows[0]) == ""
    zoo.brings(windows[1], "c.json", [vitess(20 + at, 2 + at) for at in range(5)])
    zoo.brings(windows[1], "d.json", [vitess(20 + at, 30 + at, 1) for at in range(5)])
    told = ""
    for window in sorted({*windows}):
        told = zoo.told(window)
    assert told == (
        f"pets: changes of 0 in window {windows[1]}, made from 2026-11-20 03:20:00 UTC on, stand below others made"
        " until 2026-11-20 03:04:00 UTC; the first at 2/0: `weir epoch open zoo --table pets"
        f" --window {windows[1]} --time 2026-11-20T03:20:00`"
    )


def dgraph(tmp_path: Path) -> Source:
    feed = Feed(
        "graph",
        "dgraph",
        str(tmp_path / "landing"),
        predicates={name: Predicate(name, "string", False) for name in ("name", "age")},
    )
    return Source(tmp_path, replace(feed, tables=FORMATS[feed.format].tables(feed)))


def triple(commit: int, sent: float | None = None, attr: str = "name") -> dict[str, Any]:
    """A set of one value; with the time at which it was sent, as in a dump of a topic."""
    mutation = {"operation": "set", "uid": commit, "attr": attr}
    mutation |= {"value": f"{commit}", "value_type": "string"}
    event = {"meta": {"commit_ts": commit}, "type": "mutation", "event": mutation}
    if sent is None:
        return {"key": "0", "value": event}
    return {"partition": 0, "offset": commit, "timestamp": moment(sent), "key": "0", "value": event}


def test_a_new_cluster_in_one_file_is_told_by_the_order_of_its_lines(tmp_path: Path) -> None:
    graph = dgraph(tmp_path)
    graph.brings(THREE, "a.json", map(triple, (500, 501, 502, 10, 11, 12)))
    told = graph.told(THREE)
    assert told.startswith("triples: changes of name in 2026-11-20/03/a.json (")
    assert "stand below others that come before them there" in told
    assert told.endswith("`weir epoch open graph --table triples --window 2026-11-20T03`")
    graph.brings(FOUR, "b.json", map(triple, (13, 14, 15)))
    assert graph.told(FOUR) == told
    graph.opens(Epoch(THREE))
    assert graph.told(THREE, FOUR) == ""


def test_what_dgraph_sends_again_and_late_files_are_no_new_cluster(tmp_path: Path) -> None:
    graph = dgraph(tmp_path)
    graph.brings(THREE, "a.json", map(triple, range(500, 510)))
    graph.brings(FOUR, "b.json", map(triple, (510, 511, *range(500, 513))))
    # A single commit out of place is an outlier.
    graph.brings(THREE, "e.json", map(triple, (600, 601, 602, 10)))
    # A file of the hour before that comes late, and one that has a name before that of what it repeats.
    graph.brings(FOUR, "c.json", map(triple, range(490, 500)))
    graph.brings(FOUR, "a.json", map(triple, (511, 512, 510)))
    # Another group of the cluster, which has other predicates, is behind.
    ages = (triple(commit, attr="age") for commit in (480, 481, 482))
    graph.brings(THREE, "d.json", [*map(triple, (513, 514)), *ages])
    assert graph.told(THREE) == ""
    assert graph.told(FOUR) == ""
    assert graph.told(THREE, FOUR) == ""


def test_a_new_cluster_whose_events_have_times_is_told_in_the_next_window(tmp_path: Path) -> None:
    graph = dgraph(tmp_path)
    graph.brings(THREE, "a.json", [triple(500 + at, at) for at in range(5)])
    graph.brings(FOUR, "b.json", [triple(5 + at, 61 + at) for at in range(5)])
    assert graph.told(THREE) == ""
    assert graph.told(FOUR) == (
        "triples: changes in window 2026-11-20T04, sent from 2026-11-20 04:01:00 UTC on, stand below others sent until"
        " 2026-11-20 03:04:00 UTC; the first at 5: `weir epoch open graph --table triples --window 2026-11-20T04"
        " --time 2026-11-20T04:01:00`"
    )
    graph.opens(Epoch(FOUR, time=datetime(2026, 11, 20, 4, 1, tzinfo=UTC)))
    assert graph.told(FOUR) == ""


def test_a_log_of_mysql_that_was_reset_is_told_with_the_time_at_which_the_old_one_ended(
    tmp_path: Path,
) -> None:
    zoo = debezium(tmp_path)

    def change(at: float, file: int, position: int) -> dict[str, Any]:
        where = {"connector": "mysql", "file": f"bin.{file:06}", "pos": position, "id": position}
        return pet(at, where)

    zoo.brings(THREE, "a.json", [change(0, 2, 70), change(1, 3, 80)])
    # One change is enough where the number of the log file says it.
    zoo.brings(FOUR, "b.json", [change(62, 1, 90)])
    assert zoo.told(THREE) == ""
    told = zoo.told(FOUR)
    line = (
        "weir epoch open zoo --table pets --window 2026-11-20T04 --time 2026-11-20T03:01:00.000001"
    )
    assert told.count(f"`{line}`") == 2
    zoo.opens(Epoch(FOUR, table="pets", time=datetime(2026, 11, 20, 3, 1, 0, 1, tzinfo=UTC)))
    assert zoo.told(FOUR) == ""


Made = Callable[[float, int, float], dict[str, Any]]


def arcion_s3(at: float, position: int, read: float) -> dict[str, Any]:
    cursor = {"v": 2, "log": "log-bin.000007", "position": position, "logSeqNum": 1}
    cursor |= {"timestamp": moment(at), "extractionTimestamp": moment(read)}
    return {
        "tableName": {"namespace": {"catalog": "main", "schema": "zoo"}, "name": "pets"},
        "opType": "I",
        "cursor": json.dumps(cursor),
        "before": {"id": "null", "name": "null"},
        "after": {"id": str(position), "name": f"of {at}"},
        "exists": {"id": "1", "name": "1"},
        "operationcount": "{}",
    }


def arcion_kafka(at: float, position: int, read: float) -> dict[str, Any]:
    source = {"connector": "MYSQL", "file": "log-bin.000007", "pos": position, "row": 1}
    source |= {"db": "zoo", "table": "pets", "snapshot": "false", "ts_ms": moment(at)}
    row = {"id": position, "name": f"of {at}"}
    value = {"before": None, "after": row, "source": source, "op": "c", "ts_ms": moment(read)}
    where = {"topic": "zoo_pets", "partition": 0, "offset": round(read * 10)}
    return {**where, "key": {"id": position}, "value": value}


def tigergraph(at: float, position: int, _: float) -> dict[str, Any]:
    about = {"mid": f"0|{position}|{position}|0", "timestamp": moment(at), "vid": position}
    content = {"name": {"op": "Overwrite", "value": f"of {at}"}}
    what = {"operator": "insert", "type": "vertex", "graph": "zoo", "typename": "Pet"}
    return {**about, **what, "uid": str(position), "content": content}


def yugabyte(at: float, position: int, _: float) -> dict[str, Any]:
    cells = {"id": (23, {"DatumInt32": position}), "name": (25, {"DatumString": f"of {at}"})}
    new = [
        {"column_name": name, "column_type": kind, "Datum": datum}
        for name, (kind, datum) in cells.items()
    ]
    op_id = {"term": 1, "index": position, "write_id": 0}
    row = {"table": "pets", "op": 0, "new_tuple": new, "pgschema_name": "public"}
    row |= {"old_tuple": [{"Datum": None}] * len(new), "commit_time": moment(at) * 1000 << 12}
    return {
        "checkpoint": {"op_id": {"term": 1, "index": position}},
        "cdc_sdk_proto_records": [{"row_message": row, "cdc_sdk_op_id": op_id}],
        "cdc_sdk_checkpoint": op_id,
    }


def source_of(tmp_path: Path, format_name: str) -> Source:
    table = Table("pets", ("id",), {"id": "int", "name": "string"}, ("id", "name"))
    feed = Feed("zoo", format_name, str(tmp_path / "landing"), tables={"pets": table})
    if format_name == "tigergraph":
        feed = replace(feed, tables={}, vertices={"Pet": VertexType("Pet", {"name": "string"})})
        feed = replace(feed, tables=FORMATS[feed.format].tables(feed))
    return Source(tmp_path, feed)


def test_a_graph_that_was_cleared_is_told_within_its_window(tmp_path: Path) -> None:
    zoo = source_of(tmp_path, "tigergraph")
    zoo.brings(THREE, "a.json", [tigergraph(at, 100 + at, at) for at in range(2)])
    # Commits of other machines, whose clocks are a minute behind.
    zoo.brings(THREE, "b.json", [tigergraph(at, 110 + at, at) for at in (-1, 0)])
    assert zoo.told(THREE) == ""
    zoo.brings(THREE, "c.json", [tigergraph(10 + at, 1 + at, at) for at in range(2)])
    assert zoo.told(THREE).startswith("vertex_Pet: changes of 0 in window 2026-11-20T03, made from")


FOLDER = {"yugabyte": "tablet=t1/", "arcion_s3_json": "pets/"}


@pytest.mark.parametrize("made", [arcion_s3, arcion_kafka, tigergraph, yugabyte])
@pytest.mark.parametrize("windows", [(THREE, THREE), (THREE, FIVE)])
def test_each_format_tells_a_reset_and_nothing_else(
    tmp_path: Path, made: Made, windows: Sequence[str]
) -> None:
    format_name = "arcion_s3_json" if made is arcion_s3 else made.__name__
    zoo, folder = source_of(tmp_path, format_name), FOLDER.get(format_name, "")
    old = [made(at, 1_000 + at, at) for at in range(5)]
    again = [made(at, 1_000 + at, at + 100) for at in range(5)]
    late = [made(at - 30, 900 + at, at - 30) for at in range(5)]
    zoo.brings(windows[0], f"{folder}a.json", old)
    zoo.brings(windows[1], f"{folder}b.json", [*again, *late])
    for window in sorted({*windows}):
        assert zoo.told(window) == ""
    zoo.brings(
        windows[1], f"{folder}c.json", [made(120 + at, 10 + at, 120 + at) for at in range(5)]
    )
    told = zoo.told(windows[1])
    assert f"in window {windows[1]}, made from 2026-11-20 05:00:00 UTC on, stand below" in told
    assert told.endswith(f"--window {windows[1]} --time 2026-11-20T05:00:00`")
    zoo.opens(Epoch(windows[1], time=datetime(2026, 11, 20, 5, tzinfo=UTC)))
    assert zoo.told(windows[1]) == ""
