"""A feed of topics from its file to gold, with the commands that a person would give, against a real broker."""

from __future__ import annotations

import json
from pathlib import Path

import dagster as dg
import pytest

from assets.bronze import from_topics
from assets.storage.lake import Lake, Layer
from orchestration.automation.jobs import job_name
from orchestration.cli import explain, run, session
from orchestration.cli.options import Place
from orchestration.definitions import build
from orchestration.feeds.load import load_feed
from orchestration.runs import planning
from tests.services.kafka import Broker, Sent
from tests.services.registry import running_registry
from tests.support import avro_messages
from tests.support.commands_here import weir
from transforms.errors import OffsetsLost

pytestmark = [
    pytest.mark.services,
    # Great Expectations' and Dagster's own, in the process that runs the assets.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

THREE = 1_763_607_600_000
"""2025-11-20 03:00 UTC, in milliseconds."""
HOUR = 3_600_000

FEED = """\
format: debezium
landing: kafka://{address}/town.public.city
tables:
  city: {{key: [id], columns: {{id: int, name: string}}}}
"""


def change(op: str, lsn: int, id: int, name: str | None, at: int) -> Sent:
    """What Debezium writes of one change of a Postgres row."""
    row = {"id": id, "name": name}
    value = {
        "before": row if op == "d" else None,
        "after": None if op == "d" else row,
        "source": {
            "connector": "postgresql",
            "name": "town",
            "ts_ms": THREE + lsn,
            "snapshot": "false",
            "db": "town",
            "schema": "public",
            "table": "city",
            "sequence": json.dumps([str(lsn - 1), str(lsn)]),
            "txId": lsn,
            "lsn": lsn,
        },
        "op": op,
        "ts_ms": THREE + lsn,
    }
    return Sent(json.dumps(value).encode(), json.dumps({"id": id}).encode(), at=at)


@pytest.fixture
def feeds(tmp_path: Path, lake: Lake, broker: Broker, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "feeds"
    folder.mkdir()
    (folder / "town.yaml").write_text(FEED.format(address=broker.address))
    # The session of all tests stands for the one that a command starts.
    monkeypatch.setattr(session, "reached", lambda *_, **__: lake)
    return folder


def cities(lake: Lake) -> dict[int, str]:
    rows = lake.table(Layer.GOLD, "town", "city").read().collect()
    return {row["id"]: row["name"] for row in rows}


def test_topics_come_to_gold_and_what_is_new_alone_is_brought_next(
    feeds: Path, lake: Lake, broker: Broker, capsys: pytest.CaptureFixture[str]
) -> None:
    topic = "town.public.city"
    broker.create(topic)
    broker.send(
        topic,
        [
            change("c", 10, 1, "Ulm", THREE),
            change("c", 20, 2, "Bonn", THREE + 1),
            change("u", 40, 1, "Neu-Ulm", THREE + HOUR),
        ],
    )
    assert run.run(Place(feeds, lake.warehouse), (), None) == 0
    assert cities(lake) == {1: "Neu-Ulm", 2: "Bonn"}
    printed = capsys.readouterr()
    assert "town: windows 2025-11-20T03 .. 2025-11-20T04" in printed.err
    assert run.run(Place(feeds, lake.warehouse), (), None) == 0
    assert "Nothing new: every drop in the landing is in gold already." in capsys.readouterr().out

    # The windows were done; each grows by records of a partition that is long known.
    broker.send(
        topic,
        [
            change("u", 30, 1, "Alt-Ulm", THREE + 2),
            change("d", 50, 2, None, THREE + HOUR + 1),
            Sent(None, json.dumps({"id": 2}).encode(), at=THREE + HOUR + 1),
        ],
    )
    # As a run that is killed between its commits: bronze has the records, and nothing else does.
    from_topics.land(lake, load_feed(feeds / "town.yaml"), lambda _: None)
    assert run.run(Place(feeds, lake.warehouse), (), None) == 0
    assert cities(lake) == {1: "Neu-Ulm"}
    capsys.readouterr()

    assert weir("verify", "--feeds", str(feeds), "--warehouse", lake.warehouse) == 0
    assert "proved   gold.town.city: 1 row and 1 tombstone" in capsys.readouterr().out
    assert explain.explain(Place(feeds, lake.warehouse), "town", "city", "1") == 0
    assert f"{topic}/0" in capsys.readouterr().out
    assert explain.explain(Place(feeds, lake.warehouse), "town", "city", "1", as_json=True) == 0
    known = json.loads(capsys.readouterr().out)
    assert (known["table"], known["key"]) == ("gold.town.city", ["1"])
    assert known["steps"][-1]["row"]["name"] == "Neu-Ulm"
    assert known["steps"][-1]["deliveries"][0]["object"] == f"{topic}/0"

    # What retention takes stops the run, until the feed file says that it may.
    broker.send(topic, [change("c", n, n, "lost", THREE) for n in (60, 70)])
    broker.send(topic, [change("c", 80, 80, "Köln", THREE)])
    broker.delete_before(topic, 8)
    assert run.run(Place(feeds, lake.warehouse), (), None) == 2
    assert "Kafka has deleted 2 offsets that were never read" in capsys.readouterr().err
    file = feeds / "town.yaml"
    file.write_text(f"{file.read_text()}accept_loss: {{{topic}/0: 8}}\n")
    assert run.run(Place(feeds, lake.warehouse), (), None) == 0
    assert "2 offsets below 8 are lost, as the feed file accepts" in capsys.readouterr().err
    assert cities(lake) == {1: "Neu-Ulm", 80: "Köln"}


def test_planning_reads_nothing_and_what_it_did_not_see_is_done_in_the_same_run(
    feeds: Path,
    lake: Lake,
    broker: Broker,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    topic = "town.public.city"
    broker.create(topic)
    later, future = THREE + 100 * HOUR, 4_102_444_800_000
    broker.send(
        topic,
        [
            change("c", 10, 1, "Ulm", THREE),
            change("c", 20, 2, "Bonn", later),
            change("c", 30, 3, "Trier", future),
        ],
    )
    plan = planning.due(lake, load_feed(feeds / "town.yaml"))
    assert plan.windows == ["2025-11-20T03", "2025-11-24T07"]
    assert plan.early == ["2100-01-01T00"]
    assert not lake.table(Layer.BRONZE, "town").exists()
    # A backlog too long to be looked through: some window is run, and all that reading brings to light.
    monkeypatch.setattr(planning, "LOOK_SECONDS", 0.0)
    assert run.run(Place(feeds, lake.warehouse), (), None) == 0
    assert cities(lake) == {1: "Ulm", 2: "Bonn"}
    printed = capsys.readouterr()
    assert "town: windows 2025-11-20T03" in printed.err
    assert printed.err.count("1 window not begun yet, so their drops wait: 2100-01-01T00") == 1
    assert run.run(Place(feeds, lake.warehouse), (), None) == 0
    assert "Nothing new: every drop in the landing is in gold already" in capsys.readouterr().out


def test_a_run_of_one_window_reads_all_and_names_the_windows_beyond(
    feeds: Path, lake: Lake, broker: Broker
) -> None:
    topic = "town.public.city"
    broker.create(topic)
    broker.send(topic, [change("c", 10, 1, "Ulm", THREE), change("c", 20, 2, "Bonn", THREE + HOUR)])
    feed = load_feed(feeds / "town.yaml")
    job = build([feed], lake).resolve_job_def(job_name(feed))
    with dg.DagsterInstance.ephemeral() as instance:
        done = job.execute_in_process(instance=instance, partition_key="2025-11-20T03")
    (made,) = (
        event.step_materialization_data.materialization
        for event in done.get_asset_materialization_events()
        if event.asset_key == dg.AssetKey(["bronze", "town", "town_bronze"])
    )
    metadata = {name: value.value for name, value in made.metadata.items()}
    assert (metadata["records"], metadata["records_read"]) == (1, 2)
    assert metadata["offsets"] == f"- `{topic}/0: offsets 0 to 1`"
    by_window = metadata["records_by_window"]
    assert by_window == "- `2025-11-20T03: 1 record`\n- `2025-11-20T04: 1 record`"
    assert metadata["windows_beyond"] == "- `2025-11-20T04`"
    assert cities(lake) == {1: "Ulm"}

    broker.send(topic, [Sent(b"x", at=THREE)] * 2)
    broker.delete_before(topic, 3)
    with dg.DagsterInstance.ephemeral() as instance, pytest.raises(OffsetsLost):
        job.execute_in_process(instance=instance, partition_key="2025-11-20T03")


def test_records_in_avro_come_from_topics_to_gold_by_a_registry(
    feeds: Path, lake: Lake, broker: Broker, capsys: pytest.CaptureFixture[str]
) -> None:
    broker.create("avro.public.pets", partitions=1)
    key = avro_messages.key_schema("pets", {"name": "id", "type": "int"})
    value = avro_messages.envelope_schema(
        "pets", {"name": "id", "type": "int"}, {"name": "name", "type": ["null", "string"]}
    )
    (feeds / "town.yaml").unlink()
    with running_registry() as registry:
        (feeds / "pets.yaml").write_text(
            f"format: debezium\nlanding: kafka://{broker.address}/avro.public.pets\n"
            f"schemas: {{registry: {registry.url}}}\n"
        )
        ids = registry.register("pets-key", key), registry.register("pets-value", value)

        def sent(op: str, lsn: int, id: int, **images: object) -> Sent:
            change = avro_messages.change(op, "pets", lsn, **images)
            return Sent(
                avro_messages.wired(ids[1], value, change),
                avro_messages.wired(ids[0], key, {"id": id}),
                at=THREE + lsn,
            )

        broker.send(
            "avro.public.pets",
            [
                sent("c", 1, 1, after={"id": 1, "name": "rex"}),
                sent("c", 2, 2, after={"id": 2, "name": "ada"}),
                sent("u", 3, 1, after={"id": 1, "name": None}),
                sent("d", 4, 2, before={"id": 2, "name": "ada"}),
                Sent(None, avro_messages.wired(ids[0], key, {"id": 2}), at=THREE + 4),
            ],
        )
        registry.broken = 500
        assert run.run(Place(feeds, lake.warehouse), (), None) != 0
        told = capsys.readouterr()
        assert f"the schema registry {registry.url}" in told.out + told.err
        registry.broken = None
        assert run.run(Place(feeds, lake.warehouse), (), None) == 0
    rows = lake.table(Layer.GOLD, "pets", "pets").read().collect()
    assert [(row["id"], row["name"]) for row in rows] == [(1, None)]
    # The proof makes gold again from bronze, without the registry.
    assert weir("verify", "--feeds", str(feeds), "--warehouse", lake.warehouse) == 0
