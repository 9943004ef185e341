"""Gold in real catalogues: what a second run writes, what a new column does, and what becomes of others' tables."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg
import duckdb
import pytest
from deltalake import DeltaTable, QueryBuilder

from assets.catalogues.client import client_of
from assets.catalogues.register import Registration, registered
from assets.executors.choice import IN_PROCESS
from assets.storage.lake import Lake
from bench.others import environments
from orchestration.definitions import job_to_gold
from orchestration.resources import lake_of
from orchestration.spark.jars import ensure_jars
from tests.others.cells import rows
from tests.services import unity_catalog
from tests.services.glue import GlueServer, running_glue
from tests.services.hive_metastore import HiveMetastore, running_metastore
from tests.services.unity_catalog import UnityServer, running_unity
from tests.support.pet_feed import PETS, bring, change, drop, lay
from transforms.catalogue import Catalogue, Entry, entry_of
from transforms.feed.feed import Described, Feed, Running, Table

pytestmark = [pytest.mark.services, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

OTHERS = Path(__file__).resolve().parents[2] / "others"
Server = HiveMetastore | UnityServer | GlueServer


@pytest.fixture(scope="module", params=["hive", "unity", "glue"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("catalogue")
    if request.param == "hive":
        with running_metastore(folder) as metastore:
            yield metastore
        return
    if request.param == "glue":
        try:
            python = environments.python("moto", locks=OTHERS)
        except environments.NoEnvironment as fault:
            pytest.skip(f"moto cannot be installed here: {fault}")
        with running_glue(folder, python) as glue, pytest.MonkeyPatch.context() as patch:
            for name, value in glue.environment.items():
                patch.setenv(name, value)
            yield glue
        return
    jars = os.environ.get(unity_catalog.SERVER)
    if not jars:
        pytest.skip(
            f"{unity_catalog.SERVER} names no server: docs/catalogues.md says how to get it"
        )
    with running_unity(folder, Path(jars)) as unity:
        yield unity


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A feed of its own for each test, since all share a server."""
    return str(request.node.originalname).removeprefix("test_")[:20]


def feed_of(name: str, landing: Path, table: Table = PETS) -> Feed:
    described = Described("The animals of the zoo.", {"name": "What it is called."})
    return Feed(
        name,
        "arcion_s3_json",
        str(landing),
        tables={"pets": table},
        running=Running(owners=("team:zoo",), tables={"pets": described}, start="2025-11-20T03"),
    )


def lake_at(folder: Path, server: Server) -> Lake:
    return lake_of(str(folder / "warehouse"), {"WEIR_CATALOGUES": server.setting}).by(IN_PROCESS)


def states(done: list[Registration]) -> list[str]:
    return [one.state for registration in done for one in registration.tables]


@pytest.fixture
def feed(tmp_path: Path, name: str) -> Feed:
    found = feed_of(name, tmp_path / "landing")
    pets = [change("I", at, after={"id": str(at), "name": f"pet {at}"}) for at in (1, 2)]
    lay(tmp_path / "landing", "2025-11-20/03/1.json", drop(*pets))
    return found


@pytest.fixture
def lake(tmp_path: Path, server: Server) -> Lake:
    return lake_at(tmp_path, server)


def test_a_second_run_writes_nothing_and_a_new_column_appears(
    server: Server, lake: Lake, feed: Feed, tmp_path: Path
) -> None:
    bring(lake, feed)
    assert states(registered(lake, feed, is_dry_run=True)) == ["new"]
    assert states(registered(lake, feed)) == ["new"]
    first = server.table(f"weir_{feed.name}", "pets")
    assert first.columns[:2] == [("id", "int", ""), ("name", "string", "What it is called.")]
    assert dict((name, comment) for name, _, comment in first.columns)["_weir_event_id"] == (
        "The id of the last change of the row."
    )
    assert first.comment == "The animals of the zoo."
    assert first.properties["weir.owners"] == "team:zoo"
    assert first.properties["weir.key"] == "id"
    assert first.key in (["id"], None)

    assert states(registered(lake, feed)) == ["same"]
    assert server.table(f"weir_{feed.name}", "pets") == first

    weight = {**PETS.columns, "kilos": "decimal(5,1)"}
    grown = replace(PETS, columns=weight, cdc_columns=tuple(weight), history=True, deletes="mark")
    more = feed_of(feed.name, tmp_path / "landing", grown)
    after = {"id": "3", "name": "pet 3", "kilos": "4.5"}
    lay(tmp_path / "landing", "2025-11-20/04/1.json", drop(change("I", 3, after=after)))
    bring(lake, more, ["2025-11-20T03", "2025-11-20T04"])
    assert states(registered(lake, more)) == ["changed", "new"]
    second = server.table(f"weir_{feed.name}", "pets")
    assert ("kilos", "decimal(5,1)", "") in second.columns
    # Whether and when a row was deleted is in the catalogue, too.
    kinds = {name: kind for name, kind, comment in second.columns if "delete" in comment}
    assert kinds == {"_weir_is_deleted": "boolean", "_weir_deleted_at": "timestamp"}
    assert second.key == first.key
    history = server.table(f"weir_{feed.name}", "pets__history")
    assert history.comment.startswith("One row for each version of each row of pets.")

    # Without its history again: the table stays in the catalogue, and is named.
    bring(lake, feed, ["2025-11-20T03"])
    (done,) = registered(lake, feed)
    assert (done.left, done.faults) == (("pets__history",), [])
    assert server.table(f"weir_{feed.name}", "pets__history") == history


def test_what_others_wrote_of_a_table_stays(server: Server, lake: Lake, feed: Feed) -> None:
    bring(lake, feed)
    registered(lake, feed)
    server.set_property(f"weir_{feed.name}", "pets", "steward", "Bo")
    described = replace(feed.running, owners=("team:farm",))
    assert states(registered(lake, replace(feed, running=described))) == ["changed"]
    found = server.table(f"weir_{feed.name}", "pets").properties
    assert (found["steward"], found["weir.owners"]) == ("Bo", "team:farm")


def test_somebody_elses_table_is_refused(
    server: Server, lake: Lake, feed: Feed, tmp_path: Path
) -> None:
    bring(lake, feed)
    elsewhere = lake_at(tmp_path / "elsewhere", server)
    bring(elsewhere, feed)
    assert states(registered(elsewhere, feed)) == ["new"]
    theirs = server.table(f"weir_{feed.name}", "pets")
    (done,) = registered(lake, feed)
    assert [one.state for one in done.tables] == ["refused"]
    (fault,) = done.faults
    assert f"{tmp_path}/elsewhere/warehouse/gold" in fault
    assert f"gold is at file://{tmp_path}/warehouse/gold/{feed.name}/pets" in fault
    assert server.table(f"weir_{feed.name}", "pets") == theirs


def test_a_run_with_the_catalogue_down(
    server: Server, lake: Lake, feed: Feed, tmp_path: Path
) -> None:
    """Gold is right, the check warns and says what to type; the next run heals it."""
    server.stop()
    try:
        result, found = run(lake, feed, "2025-11-20T03")
        assert result.success
        assert not found.passed
        assert found.severity == dg.AssetCheckSeverity.WARN
        assert "it does not answer" in str(found.description)
        assert f"`weir register {feed.name}` tries again" in str(found.description)
        gold = f"{lake.warehouse}/gold/{feed.name}/pets"
        assert sorted(DeltaTable(gold).to_pyarrow_table()["name"].to_pylist()) == ["pet 1", "pet 2"]
    finally:
        server.start()
    another = change("I", 3, after={"id": "3", "name": "pet 3"})
    lay(tmp_path / "landing", "2025-11-20/04/1.json", drop(another))
    result, found = run(lake, feed, "2025-11-20T04")
    assert result.success
    assert found.passed
    assert server.table(f"weir_{feed.name}", "pets").comment == "The animals of the zoo."


def run(
    lake: Lake, feed: Feed, window: str
) -> tuple[dg.ExecuteInProcessResult, dg.AssetCheckEvaluation]:
    with dg.DagsterInstance.ephemeral() as instance:
        result = job_to_gold(feed, lake).execute_in_process(
            instance=instance, partition_key=window, raise_on_error=False
        )
    (found,) = (
        one
        for one in result.get_asset_check_evaluations()
        if one.check_name == "gold_stands_in_catalogues"
    )
    return result, found


# Readers: by the name that the catalogue has, or by the place that it gives.


def by_script(python: Path, script: str, lines: str, folder: Path, **more: str) -> Any:
    for one in (script, "cells.py"):
        shutil.copy(OTHERS / one, folder)
    kept = {one: os.environ[one] for one in ("PATH", "HOME", "JAVA_HOME") if one in os.environ}
    done = subprocess.run(
        [python, folder / script],
        input=lines,
        env={**kept, "TZ": "UTC", **more},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_readers_find_gold_by_the_catalogue(
    server: Server, lake: Lake, feed: Feed, tmp_path: Path
) -> None:
    bring(lake, feed)
    registered(lake, feed)
    place = server.table(f"weir_{feed.name}", "pets").location
    wanted = [{"id": 1, "name": "pet 1"}, {"id": 2, "name": "pet 2"}]

    def told(found: Any) -> list[dict[str, Any]]:
        return [{one: row[one] for one in ("id", "name")} for row in found]

    asked = QueryBuilder().register("gold", DeltaTable(place)).execute("SELECT * FROM gold")
    assert told(rows(duckdb.from_arrow(asked).to_arrow_table().to_pylist())) == wanted
    for tool in ("polars", "duckdb"):
        lock = {"polars": "polars", "duckdb": "dbt"}[tool]
        try:
            python = environments.python(lock, locks=OTHERS)
        except environments.NoEnvironment as fault:
            pytest.skip(f"{tool} cannot be installed here: {fault}")
        folder = tmp_path / tool
        folder.mkdir()
        assert told(by_script(python, f"read_by_{tool}.py", place, folder)[place]) == wanted
    if not isinstance(server, HiveMetastore):
        return
    table = f"weir_{feed.name}.pets"
    jars = ",".join(map(str, ensure_jars()))
    more = {"DELTA_JARS": jars, "METASTORE": server.uri, "PYSPARK_PYTHON": sys.executable}
    found = by_script(
        Path(sys.executable), "read_catalogue_by_spark.py", table, tmp_path / "duckdb", **more
    )[table]
    assert told(found["rows"]) == wanted
    assert found["says"]["Provider"][0] == "delta"


def test_a_column_that_another_type_takes_the_place_of(
    server: Server, lake: Lake, feed: Feed
) -> None:
    """By its defaults a Metastore alters no table so: it is created again, and its files stay."""
    bring(lake, feed)
    registered(lake, feed)
    (catalogue,) = lake.catalogues
    entry = entry_for(lake, feed, catalogue)
    moved = replace(entry, columns=entry.columns[::-1])
    schema = f"weir_{feed.name}"
    with client_of(catalogue) as client:
        client.change(moved, client.tables(schema)["pets"])
    found = server.table(schema, "pets")
    assert [name for name, _, _ in found.columns][-2:] == ["name", "id"]
    assert found.key in (["id"], None)
    assert DeltaTable(f"{lake.warehouse}/gold/{feed.name}/pets").to_pyarrow_table().num_rows == 2


def entry_for(lake: Lake, feed: Feed, catalogue: Catalogue) -> Entry:
    from assets.catalogues.register import gold_of

    (gold,) = gold_of(lake, feed)
    return entry_of(feed, catalogue.schema_of(feed.name), gold)
