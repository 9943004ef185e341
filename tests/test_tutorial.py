"""The tutorials of CONTRIBUTING.md, to add a format and a column type: their blocks are taken from the page and run."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from orchestration.feeds.load import load_feed
from tests.journeys.commands import command
from tests.transforms import test_column_types
from tests.transforms.formats.folded import Folded, folded
from tests.transforms.formats.in_process import Scenario
from tests.transforms.formats.test_golden_changes import changed, listed, quarantined
from tests.transforms.test_column_types import Cases
from transforms import formats
from transforms.column_types.registry import SIMPLE, column_type

OBJECT = "2026-11-20/03/pets.tabbed"
PACKAGES = ("orchestration", "assets", "expectations", "transforms")


@dataclass(frozen=True)
class Tutorial:
    """What a reader of the tutorial saves: the format's module, a drop, a feed file, and what is expected of it."""

    module: str
    drop: bytes
    feed_file: str
    expected: dict[str, object]


def blocks_of(root: Path, title: str) -> dict[str, list[str]]:
    """The blocks of a section, by their language."""
    page = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = re.split(r"^## ", page, flags=re.MULTILINE)
    (text,) = [one for one in section if one.startswith(f"{title}\n")]
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return {kind: [body for known, body in blocks if known == kind] for kind, _ in blocks}


@pytest.fixture(scope="module")
def tutorial(root: Path) -> Tutorial:
    of_kind = blocks_of(root, "Add a format")
    (drop,), (feed_file,), (expected,) = of_kind["text"], of_kind["yaml"], of_kind["json"]
    # Two blank lines between functions, as between the blocks of a file that was saved piece by piece.
    module = "\n\n".join(of_kind["python"])
    return Tutorial(module, drop.encode(), feed_file, json.loads(expected))


@pytest.fixture
def registered(
    tutorial: Tutorial, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """The module is found in ``transforms.formats``, as if it had been saved there."""
    (tmp_path / "formats").mkdir()
    (tmp_path / "formats" / "tabbed.py").write_text(tutorial.module, encoding="utf-8")
    monkeypatch.setattr(formats, "__path__", [*formats.__path__, str(tmp_path / "formats")])
    name = f"{formats.__name__}.tabbed"
    monkeypatch.setitem(formats.FORMATS, "tabbed", import_module(name).FORMAT)
    yield
    del sys.modules[name]
    delattr(formats, "tabbed")


@pytest.fixture
def outcome(tutorial: Tutorial, registered: None, tmp_path: Path) -> Folded:
    """What becomes of the tutorial's drop, by the product's own stages."""
    feed_file = tmp_path / "zoo.yaml"
    feed_file.write_text(tutorial.feed_file, encoding="utf-8")
    feed = load_feed(feed_file)
    return folded(feed, {"drop": Scenario({OBJECT: tutorial.drop})})["drop"]


def test_the_drop_of_the_tutorial_becomes_what_it_says(tutorial: Tutorial, outcome: Folded) -> None:
    expected = tutorial.expected
    assert changed(outcome, expected) == [
        {"table": "pets", "moved_from": None, "derived": None} | change
        for change in listed(expected, "changes")
    ]
    assert outcome.count("duplicates") == expected["duplicates"] == 1
    assert quarantined(outcome, expected) == expected["quarantine"]
    assert outcome.state == expected["state"]


def test_every_line_of_the_drop_is_accounted_for(tutorial: Tutorial, outcome: Folded) -> None:
    lines = tutorial.drop.count(b"\n")
    assert outcome.count("records") == outcome.records == lines
    kept = len(outcome.changes) + outcome.count("duplicates") + len(outcome.quarantine)
    assert outcome.count("events") == kept == lines


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"insert", "missing_field"),
        (b"insert\t1\tpets\tid=1\tname", "malformed_field"),
        (b"insert\t1\tpets\tid=1\tid=2", "malformed_field"),
        (b"upsert\t1\tpets\tid=1", "unknown_operation"),
        (b"insert\t99999999999999999999\tpets\tid=1", "unknown_position"),
        (b"insert\t1\tpets\tid=one", "value_does_not_fit"),
        (b"insert\t1\tpets\tname=Rex", "missing_key"),
        (b"insert\t1\tpets\tid=\xff", "invalid_utf8"),
    ],
)
def test_a_line_that_cannot_be_read_is_quarantined_with_its_reason(
    tutorial: Tutorial, registered: None, tmp_path: Path, line: bytes, reason: str
) -> None:
    feed_file = tmp_path / "zoo.yaml"
    feed_file.write_text(tutorial.feed_file, encoding="utf-8")
    feed = load_feed(feed_file)
    found = folded(feed, {"drop": Scenario({OBJECT: line + b"\n"})})["drop"]
    assert [one["reason"] for one in found.quarantine] == [reason]
    assert found.state == {}


@pytest.mark.parametrize("words", [("check", "--ignore", "D100", "-"), ("format", "--check", "-")])
@pytest.mark.parametrize("title", ["Add a format", "Add a column type"])
def test_the_code_of_the_tutorials_is_in_the_style_that_they_ask_for(
    root: Path, words: tuple[str, ...], title: str
) -> None:
    ruff = Path(sys.executable).parent / "ruff"
    # A type's entry stands in a module that has a docstring.
    module = "\n\n".join(blocks_of(root, title)["python"])
    answer = subprocess.run(
        [ruff, *words, "--stdin-filename", "transforms/tutorial.py"],
        cwd=root,
        input=module,
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr


@pytest.fixture
def uuid_cases(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cases]:
    """The type of the tutorial is in the registry, as if its entry had been written there; its cases."""
    of_kind = blocks_of(root, "Add a column type")
    (code,), (cases,) = of_kind["python"], of_kind["yaml"]
    module = ModuleType("entry")
    exec(code, vars(module))
    monkeypatch.setitem(SIMPLE, module.ENTRY.name, module.ENTRY)
    column_type.cache_clear()
    yield yaml.safe_load(cases)["uuid"]
    column_type.cache_clear()


def test_the_cases_of_the_type_of_the_tutorial_hold(
    uuid_cases: Cases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(test_column_types.CASES, "uuid", uuid_cases)
    test_column_types.test_a_text_that_fits_has_one_spelling("uuid")
    test_column_types.test_a_text_of_which_something_would_be_lost_does_not_fit("uuid")
    test_column_types.test_a_value_has_the_text_that_it_was_made_of("uuid")
    test_column_types.test_what_is_no_utf8_is_bytes_and_nothing_else("uuid")
    test_column_types.test_no_text_is_too_long_to_be_judged("uuid")


def test_the_type_of_the_tutorial_is_a_key_and_stands_in_arrays_in_gold(
    uuid_cases: Cases, registered: None, tmp_path: Path
) -> None:
    feed_file = tmp_path / "zoo.yaml"
    columns = '{id: uuid, name: string, friends: "array<uuid>"}'
    feed_file.write_text(
        f"format: tabbed\nlanding: ../drops\ntables:\n  pets:\n    key: [id]\n    columns: {columns}\n"
    )
    (canonical, otherwise), unfit = uuid_cases["fits"], uuid_cases["unfit"][0]
    lines = [
        f'insert\t1\tpets\tid={otherwise}\tname=Rex\tfriends=["{otherwise}"]',
        f"update\t2\tpets\tid={canonical}\tname=Max",
        f"insert\t3\tpets\tid={unfit}\tname=Mia",
    ]
    feed = load_feed(feed_file)
    found = folded(feed, {"drop": Scenario({OBJECT: "\n".join(lines).encode()})})["drop"]
    row = {"id": canonical, "name": "Max", "friends": [canonical]}
    assert found.state == {"pets": [row]}
    assert [one["reason"] for one in found.quarantine] == ["value_does_not_fit"]


@pytest.mark.journey
def test_weir_run_knows_the_format_once_its_file_is_saved(
    tutorial: Tutorial, root: Path, tmp_path: Path
) -> None:
    """In a copy of the project, by the command that the tutorial names: nothing has to be registered."""
    for package in PACKAGES:
        shutil.copytree(root / package, tmp_path / package)
    saved = {
        "transforms/formats/tabbed.py": tutorial.module.encode(),
        "feeds/zoo.yaml": tutorial.feed_file.encode(),
        f"drops/{OBJECT}": tutorial.drop,
    }
    for name, content in saved.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    ran = command(tmp_path, sys.executable, "-m", "orchestration.cli.main", "run")
    assert ran.code == 0, ran.err
    line = "silver.zoo: 7 source events = 5 changes + 1 duplicate + 1 quarantined"
    assert line in ran.err
    assert "gold.zoo.pets: 3 keys changed, now 2 rows and 1 tombstone" in ran.err
    # It says nothing of itself for onboarding, so that its name is asked for; its events say the rest.
    weir = (sys.executable, "-m", "orchestration.cli.main")
    unknown = command(tmp_path, *weir, "onboard", "drops", "--print")
    assert unknown.code == 2
    assert "of no format that Weir recognises" in unknown.err
    asked = ("onboard", "drops", "--print", "--format", "tabbed")
    proposed = command(tmp_path, *weir, *asked)
    assert proposed.code == 0, proposed.err
    assert "    key: [id] " in proposed.out
    assert "gold.drops.pets: 2 rows, 1 deleted" in proposed.err
