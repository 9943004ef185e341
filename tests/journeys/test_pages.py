"""The commands of the README and of every page: typed as they stand there, or named with the test that runs them."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from orchestration.cli.main import COMMANDS, command_of
from tests.journeys.pages import BLOCK, Step, carried_out, missing, steps

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

TYPED_HERE = ("operating", "tables", "commands", "demo", "yugabyte", "mask_columns", "quarantine")
"""Pages whose commands follow each other here, over the demo's shop: every block that is not below."""

ELSEWHERE = {
    ("README", "export PATH="): "tests/journeys/test_newcomer.py",
    ("bench", 'make bench BENCH="--line answers"'): "tests/bench/test_others.py",
    ("growth", 'make bench BENCH="--line grow'): "tests/bench/test_growth.py",
    ("growth", 'make bench SCALE=full BENCH="--line ingest'): "tests/bench/test_simulation.py",
    ("bench", "make bench  "): "tests/bench/test_bench.py",
    ("cuts", "weir query --at latest-cut"): "tests/orchestration/cli/test_cut.py",
    ("cuts", "$ weir cut bank --views"): "tests/orchestration/cli/test_cut.py",
    ("erase", "export WEIR_ERASURE_KEY"): "tests/orchestration/cli/test_erase.py",
    ("deploy", "cd /srv/weir"): "tests/journeys/test_deploy.py",
    ("deploy", "export WEIR_SPARK_MASTER"): "tests/cluster/test_orchestrated.py",
    ("laws", "make test-faults"): "tests/faults/test_kills.py",
    ("onboarding", "$ weir"): "tests/journeys/test_pages.py",
    ("onboarding", "weir onboard kafka://"): "tests/journeys/test_tutorials.py",
    ("reconcile", "weir reconcile shop"): "tests/assets/reconcile/test_postgres.py",
    ("tigergraph", "weir release social"): "tests/orchestration/cli/test_json_answers.py",
    ("tutorial_arcion", "export AWS_ACCESS_KEY_ID"): "tests/journeys/test_tutorials.py",
    ("tutorial_arcion", "weir ui"): "tests/journeys/test_ui.py",
    ("catalogues", "export WEIR_CATALOGUES"): "tests/assets/catalogues/test_registered.py",
    ("tutorial_arcion", ""): "tests/journeys/test_tutorials.py",
    ("tutorial_debezium", ""): "tests/journeys/test_tutorials.py",
}
"""By page, and by how a block of commands begins, its test: what needs a store, a broker, a cluster, hours."""

TYPED_BY_HAND = {
    "weir quarantine replay": "sed -i s/twelve/12.00/ quarantine-shop/[0-9a-f]*.json\n"
}
"""What the page says in words, before the command that begins so."""

IDS = {"3b36aa80cc72": "value_does_not_fit", "8eee66519584": "damaged_record"}
"""The ids of records in quarantine that the page shows, and the reasons of these."""

MADE_FROM_THE_CODE = ROOT / "docs" / "reference"
CLICK = {name: command_of(name) for name in COMMANDS}
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def blocks(page: Path) -> Iterator[str]:
    """The blocks of a page that somebody is to type."""
    for kind, body in BLOCK.findall(page.read_text(encoding="utf-8")):
        if kind in ("shell", "bash", "sh") or re.match(r"(\$ )?(weir|make|python|export) ", body):
            yield body


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_of_commands_is_run_by_a_test(page: Path) -> None:
    if page.is_relative_to(MADE_FROM_THE_CODE):
        pytest.skip(
            "the help of the commands, which test_every_command_that_is_quoted_exists reads"
        )
    typed = {step.script for step in steps(page.read_text(encoding="utf-8"))}
    for block in blocks(page):
        runs = [
            test
            for (name, begins), test in ELSEWHERE.items()
            if name == page.stem and block.startswith(begins)
        ]
        is_typed = block in typed or block.startswith("$ ")
        assert runs or (page.stem in TYPED_HERE and is_typed), block
        assert all((ROOT / test).exists() for test in runs)


def test_the_list_names_no_block_that_is_gone() -> None:
    found = {page.stem: [*blocks(page)] for page in PAGES}
    for name, begins in ELSEWHERE:
        assert any(block.startswith(begins) for block in found[name]), (name, begins)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_that_is_quoted_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    lines = [line for body in blocks(page) for line in body.splitlines()]
    quoted = [*re.findall(r"`([^`\n]+)`", text), *(line.removeprefix("$ ") for line in lines)]
    for words in quoted:
        if words.startswith("make "):
            assert words.split()[1] in TARGETS, words
        elif words.startswith("weir ") and "COMMAND" not in words:
            assert not (lost := unknown(words.removeprefix("weir "))), (words, lost)


def unknown(words: str) -> list[str]:
    """What no command of this name, or no option of it, is called."""
    if re.match(r"--(version|help)\b", words):
        return []
    name, *rest = words.split()
    command = CLICK.get(name)
    if isinstance(command, click.Group) and rest and rest[0] in command.commands:
        command = command.commands[rest[0]]
    if command is None:
        return [name]
    known = {option for one in command.params for option in (*one.opts, *one.secondary_opts)}
    asked = re.findall(r"(?<![\w-])--[a-z][a-z-]*", words.split("|")[0] if "jq" in words else words)
    return [option for option in asked if option not in known | {"--help"}]


def test_what_is_misspelt_is_found() -> None:
    assert unknown("run --feed shop --windows 2025-11-20") == []
    assert unknown("quarantine list shop --stat open") == ["--stat"]
    assert unknown("compress --feed shop") == ["compress"]


def page_of(name: str) -> list[Step]:
    """What a reader of a page does, but for what other tests run."""
    text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    others = tuple(begins for page, begins in ELSEWHERE if page == name and begins != "$ weir")
    return [
        Step(f"{by_hand(step.script)}{step.script}", step.expected)
        for step in steps(text)
        if not step.script.startswith(("cat > ", *others))
    ]


def by_hand(script: str) -> str:
    return next((did for begins, did in TYPED_BY_HAND.items() if script.startswith(begins)), "")


def with_ids(step: Step, ids: dict[str, str]) -> Step:
    """The step with the ids that records have here: a part of an id is when its drop was written."""
    script, expected = step.script, step.expected
    for shown, known in ids.items():
        script = script.replace(shown[:4], known)
        expected = expected and expected.replace(shown, known)
    return Step(script, expected)


def compared(done: list[Step], printed: list[str]) -> list[str]:
    """What the pages promise and nothing printed, each with what was printed there."""
    return [
        f"{lost!r} is not in\n{shown}"
        for step, shown in zip(done, printed, strict=True)
        if step.expected and (lost := missing(step.expected, shown))
    ]


@pytest.mark.journey
def test_the_commands_of_the_pages_do_and_print_what_they_say(tmp_path: Path) -> None:
    (tmp_path / "landing").mkdir()
    (tmp_path / "feeds").mkdir()
    for feed, of_the_demo in (("shop", "shop"), ("cdctest", "wallet")):
        (tmp_path / "landing" / of_the_demo).symlink_to(ROOT / "demo" / of_the_demo)
        shutil.copy(ROOT / "feeds" / f"{of_the_demo}.yaml", tmp_path / "feeds" / f"{feed}.yaml")
    done = [Step("weir run\n"), *(step for name in TYPED_HERE[:-1] for step in page_of(name))]
    done.append(Step("weir quarantine list shop --json\n"))
    printed = carried_out(tmp_path, done, {"WEIR_MASK_KEY": "0123456789abcdef"})
    assert compared(done, printed) == []
    by_command = {
        step.script.split("\n")[0]: shown for step, shown in zip(done, printed, strict=True)
    }
    backfill = by_command["weir run --feed shop --windows 2025-11-19T22..2025-11-20T01"]
    assert "0 keys changed, now 6 rows and 1 tombstone" in backfill
    compaction = by_command["weir compact --feed shop --dry-run"]
    assert "retention: all windows since 2025-11-19T22 are kept" in compaction
    assert "name: customers" in (tmp_path / "sources.yml").read_text()
    ids = {one["reason"]: one["id"][:12] for one in json.loads(printed[-1])}
    known = {shown: ids[reason] for shown, reason in IDS.items()}
    repairing = [with_ids(step, known) for step in page_of("quarantine")]
    assert compared(repairing, carried_out(tmp_path, repairing, {})) == []


@pytest.mark.journey
def test_the_commands_of_onboarding_do_and_print_what_the_page_says(tmp_path: Path) -> None:
    (tmp_path / "demo").symlink_to(ROOT / "demo")
    done = [Step("weir onboard demo/clinic\n"), *page_of("onboarding")]
    assert compared(done, carried_out(tmp_path, done, {})) == []
