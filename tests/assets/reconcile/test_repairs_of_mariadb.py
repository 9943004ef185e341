"""What differs from a real MariaDB is read again there, and recorded in bronze, by its place in the binary log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assets.executors.choice import IN_PROCESS
from assets.reconcile.mysql import MySqlSource
from assets.source.database import address_of
from assets.storage.lake import Layer
from orchestration.feeds.load import load_feed
from orchestration.resources import lake_of
from tests.assets.reconcile.test_mariadb import FAULTS, PLANTED, Shop, reconcile, shop
from tests.support.commands_here import weir

__all__ = ["shop"]

# Dagster's own warnings, in the run that brings a repair to gold.
pytestmark = [
    pytest.mark.services,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


def gold(shop: Shop, table: str, **key: object) -> list[dict[str, Any]]:
    lake = lake_of(str(shop.folder / "warehouse"))
    rows = lake.in_process_table(Layer.GOLD, "shop", table).rows()
    return [row for row in rows if all(row[name] == value for name, value in key.items())]


def test_each_fault_is_repaired_and_every_replay_has_it(
    shop: Shop, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("WEIR_EXECUTOR", IN_PROCESS)
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "dagster"))
    place = ("--feeds", str(shop.folder / "feeds"), "--warehouse", str(shop.folder / "warehouse"))
    shop.server.run(FAULTS)
    ((log, faulty, *_),) = shop.asked("SHOW MASTER STATUS")
    # In another log file, so that the place is one of two numbers.
    shop.server.run("FLUSH BINARY LOGS")
    ((later_log, *_),) = shop.asked("SHOW MASTER STATUS")
    assert later_log > log
    shop.go_on()
    ratio = gold(shop, "person", id=5)[0]["ratio"]
    assert ratio is not None

    assert reconcile(shop, "--repair", "--yes", "--by", "ann") == 1
    answer = capsys.readouterr()
    said = answer.out
    assert "is not in gold yet" not in answer.err
    assert said.count("not repaired: value_does_not_fit: ") == PLANTED["type"]
    unread = "not read, so that gold keeps what it has, which is null in a new row: ratio"
    assert unread in said
    again = "the keys that differed were compared again"
    assert f"gold.shop.person: recorded; {again}: 10 keys still differ" in said
    for table in ("stock", "tile", "word"):
        assert f"gold.shop.{table}: repaired; {again}: as in the source" in said
    assert gold(shop, "person", id=5)[0]["ratio"] == ratio
    assert gold(shop, "person", id=18)[0]["big"] == 18446744073709551615 - 18 + 1

    shop.file.write_text(shop.file.read_text().replace("decimal(10,2)", "decimal(14,2)"))
    assert weir("rebuild", "shop", *place) == 0
    assert reconcile(shop, "--repair", "--yes") == 0
    assert weir("verify", "shop", *place) == 0

    # An older change, of the file before, comes too late to undo it; one behind the place counts.
    late = {"x": 9, "y": 3, "n": -5}
    shop.capture("tile", [late], "u", file=int(log.rpartition(".")[2]), point=faulty)
    shop.server.run("UPDATE shop.tile SET n = 1000 WHERE x = 9 AND y = 4")
    shop.capture("tile", [{"x": 9, "y": 4, "n": 1000}], "u")
    shop.bring()
    assert gold(shop, "tile", x=9, y=3)[0]["n"] == 28
    assert gold(shop, "tile", x=9, y=4)[0]["n"] == 1000
    assert reconcile(shop) == 0
    assert weir("rebuild", "shop", *place) == 0
    assert reconcile(shop) == 0

    # The place is that of the snapshot, and not that of the log by the time it is asked for.
    source = MySqlSource("shop", address_of(load_feed(shop.file)))
    with source.complete_snapshot(1) as snapshot:
        shop.server.run("UPDATE shop.tile SET n = -1 WHERE x = 1 AND y = 1")
        ((_, point, *_),) = shop.asked("SHOW MASTER STATUS")
        snapshot.cursor.execute("SELECT n FROM tile WHERE x = 1 AND y = 1")
        assert snapshot.cursor.fetchall() == ((1,),)
        assert snapshot.place.numbers[1] < point
