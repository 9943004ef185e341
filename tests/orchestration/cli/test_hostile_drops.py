"""Drops whose tables, columns, keys, values and objects have hostile names, by the command line: from S3 and folders.

Everything ends in bronze, and in gold or quarantine, under its own name; nothing lies elsewhere, and nothing that is
printed acts on a terminal.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest
from botocore.exceptions import ClientError

from assets.landing.landings import reason_to_leave_out
from assets.quarantine.records import quarantine_of
from assets.storage.lake import Lake, Layer
from assets.storage.leases import LOCKS
from orchestration.cli.main import main
from orchestration.feeds.load import load_feeds
from orchestration.resources import lake_of
from tests.laws.drawn import model_format
from tests.services.seaweed import Store, store
from tests.support.hostile_names import AT_A_TERMINAL, HOSTILE, IN_SQL
from tests.support.pet_feed import lay
from transforms.feed.feed import Feed
from transforms.feed.names import TOMBSTONES, spelled_columns
from transforms.silver.declarations import name_fault

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

__all__ = ["store"]

# Dagster's own.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

COLUMNS = ["id", *dict.fromkeys([*AT_A_TERMINAL, *IN_SQL])]
TABLES = [name for name in dict.fromkeys(HOSTILE) if len(name) < 100 and "@" not in name]
WHOLE = [name for name in TABLES if name_fault(name, name, [name]) is None]
OF_LAYERS = {*Layer, LOCKS, "_quality", "_reports"}


def event(at: int, table: str) -> str:
    """An event that describes its table, whose values are called as its columns are."""
    return json.dumps(
        {
            "table": table,
            "operation": "insert",
            "effect": "replace",
            "before": {},
            "after": {name: name for name in COLUMNS},
            "log_position": [0, 1, at],
            "identity": [str(at)],
            "dedup_prefix": 3,
            "told": {
                "key": ["id"],
                "columns": [{"name": name, "type": "string"} for name in COLUMNS],
            },
        }
    )


def data() -> bytes:
    return "".join(event(at, name) + "\n" for at, name in enumerate(TABLES, 1)).encode()


@pytest.fixture
def feeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    model_format.register(monkeypatch)
    return tmp_path / "feeds"


class Commands:
    """The command line in this place; what it printed."""

    def __init__(
        self, feeds: Path, warehouse: Path | str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.place = ["--feeds", str(feeds), "--warehouse", str(warehouse)]
        self.capsys = capsys

    def __call__(self, *arguments: str) -> str:
        place = self.place[2:] if arguments[0] == "query" else self.place
        with pytest.raises(SystemExit) as ended:
            # Behind two hyphens a name may begin with one.
            at = arguments.index("--") if "--" in arguments[:2] else len(arguments)
            main([*arguments[:at], *place, *arguments[at:]])
        seen = self.capsys.readouterr()
        assert ended.value.code in (0, None), (arguments, seen.out[-1800:], seen.err[-100:])
        for text in (seen.out, seen.err):
            assert not [one for one in text if not one.isprintable() and one != "\n"], arguments
            assert not [line for line in text.splitlines() if line.startswith("error: forged")]
        return seen.out


def gold_of(lake: Lake, feed: Feed) -> set[str]:
    folder = Path(lake.path(Layer.GOLD, feed.name))
    return {one.name for one in folder.iterdir() if not one.name.endswith(TOMBSTONES)}


def objects_of(lake: Lake, feed: Feed) -> set[str]:
    bronze = lake.in_process_table(Layer.BRONZE, feed.name)
    return {*bronze.read(["object"])["object"].to_pylist()}


def test_whatever_a_folder_holds_stays_in_the_warehouse_and_does_nothing_at_a_terminal(
    feeds: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    landing = tmp_path / "drops"
    objects = [f"2025-11-20/03/{name}.jsonl" for name in AT_A_TERMINAL if "\x00" not in name]
    for name in objects:
        lay(landing, name, b"")
    lay(landing, objects[0], data())
    lay(feeds, "zoo.yaml", f"format: telling\nlanding: {landing}\n".encode())
    before = {*tmp_path.iterdir()} | {tmp_path / "lake"}
    weir = Commands(feeds, tmp_path / "lake", capsys)
    weir("run")
    (feed,) = load_feeds(feeds)
    lake = lake_of(str(tmp_path / "lake"))
    assert objects_of(lake, feed) == {*objects}
    assert gold_of(lake, feed) == {*WHOLE}
    refused = quarantine_of(lake, feed).open
    assert len(refused) == len(TABLES) - len(WHOLE)
    assert {*tmp_path.iterdir()} == before
    assert {one.name for one in (tmp_path / "lake").iterdir()} <= OF_LAYERS
    asked(weir, [one.id for one in refused])
    table = WHOLE[0]
    opened = lake.in_process_table(Layer.GOLD, "zoo", table).table
    assert opened is not None
    (row,) = opened.to_pyarrow_table().to_pylist()
    names = spelled_columns(COLUMNS)
    assert [row[names.get(name, name)] for name in COLUMNS] == COLUMNS
    for style in ("table", "jsonl"):
        weir("query", f"SELECT * FROM gold.zoo.`{table}`", "--format", style)


def asked(weir: Commands, ids: Sequence[str]) -> None:
    """All questions that print names and values of the drops."""
    for more in ([], ["--details"], ["--json"]):
        weir("status", *more)
    weir("quarantine", "list", "zoo")
    json.loads(weir("quarantine", "list", "zoo", "--json"))
    for id in ids[::3]:
        weir("quarantine", "show", "zoo", id)
        json.loads(weir("quarantine", "show", "zoo", id, "--json"))
    for table in WHOLE[::4]:
        weir("explain", "--", "zoo", table, json.dumps(["id"]))


@pytest.mark.services
def test_whatever_a_bucket_holds_is_read_by_its_own_key_and_nothing_is_written_elsewhere(
    feeds: Path, store: Store, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in store.environment().items():
        monkeypatch.setenv(name, value)
    client, outside = store.client(), {"secret.jsonl": b"not for Weir"}
    store.put("hostile", outside)
    tables = iter(["pets", *[name for name in WHOLE if name in {*IN_SQL, *AT_A_TERMINAL}]])
    landed = {}
    for name in dict.fromkeys(HOSTILE):
        key = f"drops/2025-11-20/{name}.jsonl"
        # The server refuses some keys, as others do.
        with suppress(ClientError):
            client.put_object(Bucket="hostile", Key=key, Body=b"")
            landed[key] = name
    keys = [one for one in keys_of(client) if one.startswith("drops/")]
    for at, (key, table) in enumerate(zip(keys, tables, strict=False), 1):
        client.put_object(Bucket="hostile", Key=key, Body=f"{event(at, table)}\n".encode())
    lay(feeds, "zoo.yaml", b"format: telling\nlanding: s3://hostile/drops/\n")
    weir = Commands(feeds, "s3://hostile/lake", capsys)
    weir("run")
    (feed,) = load_feeds(feeds)
    lake = lake_of("s3a://hostile/lake")
    names = {key.removeprefix("drops/") for key in keys}
    found = objects_of(lake, feed)
    assert found == {name for name in names if reason_to_leave_out(name, ["**/*.jsonl"]) is None}
    assert len(found) > 40
    after = {*keys_of(client)}
    lying = {key for key in after if not key.startswith(("drops/", "lake/"))}
    assert lying == {*outside}
    assert {key.split("/")[1] for key in after if key.startswith("lake/")} <= {*OF_LAYERS, LOCKS}
    in_gold = {unquote(key.split("/")[3]) for key in after if key.startswith("lake/gold/")}
    made = [one for one in in_gold if not one.endswith(TOMBSTONES)]
    assert len(made) > 10
    assert {*made} <= {"pets", *WHOLE}
    for table in made:
        assert "id" in weir("query", f"SELECT id FROM gold.zoo.`{table}`", "--format", "jsonl")


def keys_of(client: S3Client) -> list[str]:
    pages = client.get_paginator("list_objects_v2").paginate(Bucket="hostile")
    return [one["Key"] for page in pages for one in page.get("Contents", [])]
