"""From an empty folder to gold by the commands alone: a drop of each kind that README's matrix has, from each landing.

Drops are those of the golden cases, and what their sources held is what the cases say. `weir onboard` writes each feed
file; what a person has to add, because the command says that nothing in the drops tells it, is in ``ADDED``.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.journeys import commands
from tests.services.kafka import Broker, Sent
from tests.support.commands_here import weir
from tests.support.onboarded import laid, onboarded
from tests.transforms.formats.in_topics import in_topics
from tests.transforms.formats.matrix import CELLS, LANDINGS, TOPIC
from tests.transforms.formats.test_golden import CASES, Case, feed
from transforms.formats import FORMATS

pytestmark = [pytest.mark.journey, pytest.mark.services]

NO_JOURNEY = {
    "arcion_kafka/native_snapshot_rows": "bare rows are only known by the columns that a feed file declares",
    "dgraph/rdf_baseline": "an export does not say which predicates are lists, and nick is one",
}
"""Cases that onboarding alone does not bring to gold."""

ADDED = {
    # The command leaves `schemas` to be filled in.
    "avro_in_the_wire_format": (
        r"# schemas:.*\n#   registry: .*",
        "schemas: {{folder: {schemas}}}",
    ),
    "json_schema_in_the_wire_format": (
        r"# schemas:.*\n#   registry: .*",
        "schemas: {{folder: {schemas}}}",
    ),
    "messages_in_protobuf": (
        r"# schemas:.*\n#   registry: .*",
        "schemas: {{folder: {schemas}}}",
    ),
    # Keys are guesses, and called so; columns of CSV without a header have no names.
    "cloud_events_without_keys": (r"key: \[.*\]", "key: [id]"),
}
"""By scenario, what a person looks up in the source: a pattern of the feed file's text, and what takes its place."""

PREVIEWED = {name for name, one in FORMATS.items() if one.extra_assets} - {"debezium"}
"""Formats that have tables made by Spark, which takes longer than all others together: of them the preview is gold.

Debezium's own asset, of cuts, needs no Spark, and no feed here has it.
"""

DECLARED_ALONE = {"books"}
"""Tables of the golden feeds whose meaning a declaration decides: a column that has whole documents."""


@dataclass(frozen=True)
class Kind:
    """One case from one landing; ``name`` is its feed's."""

    name: str
    case: Case
    is_topic: bool

    @property
    def source(self) -> str:
        return self.case.folder.parent.name


Lakehouse: TypeAlias = dict[str, str]
"""The landing of each kind, by its name."""


def kinds() -> list[Kind]:
    """Each case of the matrix once from files, and once from a topic."""
    found = {
        (case, landing == TOPIC): None
        for cell in CELLS
        for landing in LANDINGS
        if (case := cell.case(landing)) is not None and case not in NO_JOURNEY
    }
    return [
        Kind(f"kind_{number}", Case(CASES / case), is_topic)
        for number, (case, is_topic) in enumerate(found)
    ]


KINDS = kinds()


@pytest.fixture(scope="module")
def lakehouse(tmp_path_factory: pytest.TempPathFactory, broker: Broker) -> Iterator[Lakehouse]:
    """A folder in which every kind was onboarded, and all were run at once; the working folder of the module."""
    folder = tmp_path_factory.mktemp("lakehouse")
    landings: Lakehouse = {}
    with contextlib.chdir(folder):
        for kind in KINDS:
            landing = in_topic(kind, broker) if kind.is_topic else in_files(kind, folder)
            landings[kind.name] = landing
            if kind.source in PREVIEWED:
                continue
            assert weir("onboard", landing, "--name", kind.name) == 0, kind
            complete(folder / "feeds" / f"{kind.name}.yaml", kind)
        ran = commands.weir(folder, "run")
        assert ran.code in (0, 1), ran.err[-3000:]
        assert "starting Spark" not in ran.err
        yield landings


def in_files(kind: Kind, folder: Path) -> str:
    """The case's objects in a folder."""
    laid(folder / "drops" / kind.name, kind.case.scenario().drop)
    return f"drops/{kind.name}"


def in_topic(kind: Kind, broker: Broker) -> str:
    """The case's records in topics of their own, whose names end as those of the case do."""
    topics: dict[str, list[Sent]] = {}
    for one in in_topics(feed(kind.source), kind.case.scenario()):
        if not one.is_bare:
            sent = Sent(one.value, one.key, one.headers, partition=one.partition)
            topics.setdefault(f"{kind.name}.{one.topic}", []).append(sent)
    for topic, records in topics.items():
        broker.create(topic, partitions=1 + max(one.partition for one in records))
        broker.send(topic, records)
    return f"kafka://{broker.address}/{','.join(topics)}"


def complete(file: Path, kind: Kind) -> None:
    """Add what the command says that a person has to add."""
    if kind.case.folder.name not in ADDED:
        return
    pattern, text = ADDED[kind.case.folder.name]
    given = text.format(schemas=kind.case.folder.parent / "feed" / "schemas")
    written, count = re.subn(pattern, given, file.read_text())
    assert count == 1, file.read_text()
    file.write_text(written)


@pytest.mark.parametrize(
    "kind",
    KINDS,
    ids=lambda one: f"{one.source}-{one.case.folder.name}-{'topic' if one.is_topic else 'files'}",
)
def test_gold_is_what_the_source_held(
    kind: Kind, lakehouse: Lakehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    state: dict[str, list[dict[str, object]]] = kind.case.expected.get("state", {})  # type: ignore[assignment]
    for table, held in state.items():
        if table not in DECLARED_ALONE:
            found = rows_of(kind, lakehouse, table, capsys)
            assert values_of(found, held) == values_of(held, found), table


def rows_of(
    kind: Kind, lakehouse: Lakehouse, table: str, capsys: pytest.CaptureFixture[str]
) -> list[dict[str, object]]:
    """The rows of a gold table, as `weir query` prints them; without the columns of Weir's own."""
    # Records of xcluster name no table: then it is called after the feed.
    name = kind.name if kind.source == "yugabyte_xcluster" else table
    if kind.source in PREVIEWED:
        return onboarded(lakehouse[kind.name]).gold()[name]
    capsys.readouterr()
    code = weir("query", "--format", "jsonl", f"SELECT * FROM gold.{kind.name}.{name}")
    printed = capsys.readouterr()
    assert code == 0, printed.err
    rows = map(json.loads, printed.out.splitlines())
    return [{key: row[key] for key in row if not key.startswith("_weir")} for row in rows]


def values_of(rows: Sequence[dict[str, object]], others: Sequence[dict[str, object]]) -> list[str]:
    """The rows without columns that the others do not have; where none has a name in common, their values alone."""
    names = {name for row in rows for name in row} & {name for row in others for name in row}
    if rows and others and not names:
        return sorted(str(sorted(map(plain, row.values()))) for row in rows)
    return sorted(str([(name, plain(row[name])) for name in sorted(names)]) for row in rows)


def plain(value: object) -> str:
    """A value as text, however its type prints it: a list as JSON, a number, and a moment with or without a zone."""
    if isinstance(value, list):
        return json.dumps(value, separators=(",", ":"))
    if isinstance(value, bool):
        value = int(value)
    text = str(value)
    with contextlib.suppress(InvalidOperation):
        return f"{Decimal(text).normalize():f}"
    if re.match(r"\d{4}-\d\d-\d\d[T ]\d\d:", text) is None:
        return text
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    return moment.isoformat(sep=" ")
