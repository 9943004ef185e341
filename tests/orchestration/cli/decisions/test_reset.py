"""A source whose positions begin again stops its table, and the command that the check names sets it going."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from assets.storage.lake import Layer
from orchestration.resources import lake_of
from tests.support.commands_here import weir
from tests.support.pet_feed import lay

# Dagster's own, about what a run's context is asked.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

GRAPH = """\
format: dgraph
landing: ../drops
predicates: {name: {type: string}}
"""
THREE_O_CLOCK = 1_795_143_600_000


def sets(cluster: str, first: int, minute: int) -> bytes:
    """Five commits that set the names of nodes 1 to 5, as in a dump of the topic."""
    lines = []
    for number in range(5):
        mutation = {"operation": "set", "uid": number + 1, "attr": "name", "value": cluster}
        event = {"meta": {"commit_ts": first + number}, "type": "mutation"}
        event["event"] = {**mutation, "value_type": "string"}
        sent = THREE_O_CLOCK + (minute + number) * 60_000
        where = {"partition": 0, "offset": minute + number, "timestamp": sent}
        lines.append(json.dumps({**where, "key": "0", "value": event}))
    return ("\n".join(lines) + "\n").encode()


def values(place: Path) -> set[str]:
    lake = lake_of(str(place / "warehouse"))
    rows = lake.in_process_table(Layer.GOLD, "graph", "triples").rows(["value"])
    return {row["value"] for row in rows}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    lay(tmp_path, "feeds/graph.yaml", GRAPH.encode())
    monkeypatch.setenv("WEIR_FEEDS", str(tmp_path / "feeds"))
    monkeypatch.setenv("WEIR_WAREHOUSE", str(tmp_path / "warehouse"))
    monkeypatch.setenv("DAGSTER_HOME", "")
    return tmp_path


def test_a_new_cluster_of_dgraph_goes_on_once_its_epoch_is_opened(
    place: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lay(place, "drops/2026-11-20/03/a.json", sets("old", 500, 0))
    assert weir("run") == 0
    lay(place, "drops/2026-11-20/04/b.json", sets("new", 5, 60))
    assert weir("run") != 0
    assert values(place) == {"old"}
    said = capfd.readouterr()
    (line,) = set(re.findall(r"`weir (epoch open graph --table [^`]*)`", said.out + said.err))
    assert line == (
        "epoch open graph --table triples --window 2026-11-20T04 --time 2026-11-20T04:00:00"
    )
    assert weir(*shlex.split(line), "--yes") == 0
    assert weir("run") == 0
    assert values(place) == {"new"}
