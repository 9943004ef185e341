"""Streams that a real Dgraph server wrote, where they are at hand: gold is what the server itself exported then.

``WEIR_SAMPLES`` names the folder; it is not part of the project. Each recorded segment has the events from an empty
start on (``events_cumulative.jsonl``), and Dgraph's own RDF export, or its answers per namespace, at the end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from assets.storage.lake import Lake, Layer
from orchestration.cli import verify
from orchestration.feeds.load import load_feed
from orchestration.resources import lake_of
from tests.support.pet_feed import bring, lay
from tests.transforms.formats.folded import Folded, folded
from tests.transforms.formats.in_process import Scenario
from transforms.feed.feed import Feed

Triple = tuple[int, int, str, str | None, str]

EXPORTED = [
    *("01_all_types_insert", "09_drop_data", "10_drop_all", "11_increment_tool"),
    *("12_uids_above_2_53", "13_random_workload_part1"),
]
BY_NAMESPACE = [
    *("16_namespaces_interleaved", "17_namespace_drop_data", "18_namespace_drop_attr"),
]
WORKLOAD = "13_random_workload_part1"

LINE = re.compile(
    r'<0x(\w+)> <(.+?)> (?:<0x(\w+)>|("(?:[^"\\]|\\.)*")(?:\^\^<(.+?)>)?) <0x(\w+)>(?: \(.*\))? \.'
)
TYPES = {
    **{"xs:int": "int", "xs:float": "float", "xs:boolean": "bool", "xs:dateTime": "datetime"},
    **{"xs:string": "string", "xs:[]float32": "float32vector", "xs:decimal": "bigfloat"},
    **{"geo:geojson": "geo", "xs:password": "password", "": "default"},
}
LOST = ("geo", "bigfloat")


@pytest.fixture(scope="module")
def samples(samples_of: Callable[[str], Path]) -> Path:
    return samples_of("dgraph")


def exported(text: str, lost: Collection[str] = LOST) -> set[Triple]:
    """The triples of an export, as gold can know them: no password, no node types, no value of a type that is lost."""
    found: set[Triple] = set()
    for line in text.splitlines():
        parts = LINE.fullmatch(line)
        assert parts is not None, line
        uid, predicate, node, value, kind, namespace = parts.groups()
        name = "uid" if node else TYPES[kind or ""]
        if name == "password" or predicate.startswith("dgraph."):
            continue
        shown = str(int(node, 16)) if node else json.loads(value)
        shown = None if name in lost else shown
        found.add((int(namespace, 16), int(uid, 16), predicate, shown, name))
    return found


def answered(text: str) -> set[Triple]:
    """The triples of the answers per namespace."""
    found: set[Triple] = set()
    for namespace, answer in json.loads(text).items():
        for node in answer["q"]:
            uid = int(node["uid"], 16)
            for predicate, value in node.items():
                if predicate == "links":
                    ends = {str(int(one["uid"], 16)) for one in value}
                    found |= {(int(namespace), uid, predicate, end, "uid") for end in ends}
                elif predicate != "uid":
                    kind = "int" if isinstance(value, int) else "string"
                    found.add((int(namespace), uid, predicate, str(value), kind))
    return found


def expected(samples: Path, segment: str) -> set[Triple]:
    """What the server had at the segment's end."""
    if segment in EXPORTED:
        return exported((samples / segment / "expected_export.rdf").read_text())
    return answered((samples / segment / "expected_by_namespace.json").read_text())


def triples(rows: Iterable[Mapping[str, object]]) -> set[Triple]:
    """Gold's rows; no two of them are one triple."""
    found = [
        (
            int(str(row["namespace"])),
            int(str(row["uid"])),
            str(row["predicate"]),
            None if row["value"] is None else str(row["value"]),
            str(row["value_type"]),
        )
        for row in rows
    ]
    assert len(set(found)) == len(found)
    return set(found)


def declared(schema: str) -> str:
    """What a feed file says of the predicates of a schema."""
    lines = [
        f'  "{name}": {{type: {kind}, list: {"true" if opened else "false"}}}'
        for name, opened, kind in re.findall(r"^\[0x0\] <(.+?)>:(\[?)(\w+)", schema, re.MULTILINE)
        if not name.startswith("dgraph.")
    ]
    return "predicates:\n" + "\n".join(lines) + "\n"


def feed_of(folder: Path, landing: Path, predicates: str) -> Feed:
    """A feed, from a feed file."""
    file = folder / "nodes.yaml"
    file.write_text(f"format: dgraph\nlanding: {landing}\n{predicates}")
    return load_feed(file)


@pytest.fixture(scope="module")
def states(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Folded]:
    """The outcome of every segment, alone and with its own copy in pieces before it."""
    folder = tmp_path_factory.mktemp("feed")
    schemas = [(samples / one / "expected_schema.txt").read_text() for one in EXPORTED]
    own = [schema for schema in schemas if "<nick>:default" not in schema]
    links = "[0x0] <links>:[uid] .\n"
    names = dict(re.findall(r"^\[0x0\] (<.+?>)(.*)$", "\n".join([*own, links]), re.MULTILINE))
    merged = "\n".join(f"[0x0] {name}{rest}" for name, rest in names.items())
    feed = feed_of(folder, folder, declared(merged))
    scenarios: dict[str, Scenario] = {}
    for segment in [*EXPORTED, *BY_NAMESPACE]:
        data = (samples / segment / "events_cumulative.jsonl").read_bytes()
        lines = data.splitlines(keepends=True)
        scenarios[segment] = Scenario({"sink.log": data})
        rng = Random(segment)
        # A restart: the whole stream once more behind its first part, cut off somewhere.
        again = lines[: rng.randint(1, len(lines))] + lines + lines[: rng.randint(1, len(lines))]
        cuts = sorted(rng.sample(range(1, len(again)), min(4, len(again) - 1)))
        pieces = [again[a:b] for a, b in zip([0, *cuts], [*cuts, len(again)], strict=True)]
        names_of = rng.sample(range(len(pieces)), len(pieces))
        scenarios[f"{segment} again"] = Scenario(
            {f"{name}.log": b"".join(piece) for name, piece in zip(names_of, pieces, strict=True)}
        )
        if segment in EXPORTED:
            # A stream that starts late, behind an export at its end.
            newest = max(int(found) for found in re.findall(rb'"commit_ts":(\d+)', data))
            export = (samples / segment / "expected_export.rdf").read_bytes()
            scenarios[f"{segment} late"] = Scenario(
                {
                    f"export/dgraph.r{newest}.u1121.1200/g01.rdf": export,
                    "sink.log": b"".join(lines[len(lines) // 2 :]),
                }
            )
    return folded(feed, scenarios)


@pytest.mark.parametrize("segment", [*EXPORTED, *BY_NAMESPACE])
@pytest.mark.parametrize("delivery", ["", " again"])
def test_gold_is_what_the_server_exported(
    states: dict[str, Folded], samples: Path, segment: str, delivery: str
) -> None:
    outcome = states[f"{segment}{delivery}"]
    assert outcome.quarantine == []
    assert triples(outcome.state["triples"]) == expected(samples, segment)


@pytest.mark.parametrize("segment", EXPORTED)
def test_an_export_is_the_baseline_of_a_stream_that_starts_late(
    states: dict[str, Folded], samples: Path, segment: str
) -> None:
    outcome = states[f"{segment} late"]
    assert outcome.quarantine == []
    export = (samples / segment / "expected_export.rdf").read_text()
    assert triples(outcome.state["triples"]) == exported(export, lost=())


def test_a_folder_with_all_that_was_recorded_gives_the_export(
    lake: Lake, samples: Path, tmp_path: Path
) -> None:
    predicates = declared((samples / WORKLOAD / "expected_schema.txt").read_text())
    feed = feed_of(tmp_path, samples / WORKLOAD, predicates)
    _, made = bring(lake, feed)
    rows = lake.table(Layer.GOLD, feed.name, "triples").read().collect()
    assert triples(row.asDict() for row in rows) == expected(samples, WORKLOAD)
    assert made.violations["accounting_is_exact"] == 0


def test_a_stream_in_pieces_gives_the_export_and_the_proof_deals_them_into_other_windows(
    lake: Lake, samples: Path, tmp_path: Path
) -> None:
    lines = (samples / WORKLOAD / "events.jsonl").read_bytes().splitlines(keepends=True)
    landing = tmp_path / "landing"
    cuts = [0, 80, 120, 200, 230, 290, len(lines)]
    for number, (start, end) in enumerate(pairwise(cuts)):
        # Every piece begins with a part of the one before it, as after a restart.
        piece = b"".join(lines[max(0, start - 30) : end])
        lay(landing, f"2026-11-20/0{number % 2}/{number}.log", piece)
    predicates = declared((samples / WORKLOAD / "expected_schema.txt").read_text())
    feed = feed_of(tmp_path, landing, predicates)
    bring(lake, feed)
    rows = lake.table(Layer.GOLD, feed.name, "triples").read().collect()
    assert triples(row.asDict() for row in rows) == expected(samples, WORKLOAD)
    assert verify.prove(lake, lake_of(str(tmp_path / "proof")), feed, seed=1) == 0
