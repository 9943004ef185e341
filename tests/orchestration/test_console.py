"""What is printed: no silence is long, and whatever sources write, it is text, and no line of it is another's."""

# No postponed annotations here: Dagster reads the functions' own.

import csv
import io
import json
import logging
import os
import re
import time
from collections.abc import Callable, Iterator
from typing import TextIO

import dagster as dg
import pytest
from hypothesis import HealthCheck, given, settings

from orchestration import console
from orchestration.cli.main import main
from orchestration.cli.sql.answers import QueryAnswer, print_rows
from orchestration.sheets import Grid, Sheet
from tests.support.hostile_names import AT_A_TERMINAL, names
from transforms.errors import FeedMisdeclared, TablesFailed, UnknownKey, WeirError


@pytest.fixture
def terminal() -> Iterator[tuple[TextIO, Callable[[], str]]]:
    """A terminal, and what was written to it."""
    own, other = os.openpty()
    with os.fdopen(other, "w", encoding="utf-8") as out:

        def written() -> str:
            # A terminal gives what it has so far, which may be less than all.
            end = "(the end)"
            print(end, end="", file=out, flush=True)
            seen = b""
            while not seen.endswith(end.encode()):
                seen += os.read(own, 1 << 16)
            return seen.decode().replace("\r\n", "\n").removesuffix(end)

        yield out, written
    os.close(own)


def is_text(seen: str) -> bool:
    return all(one.isprintable() or one == "\n" for one in seen)


once = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@once
@given(names)
def test_a_line_is_one_line_in_which_nothing_acts(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    console.put(f"gold.shop.{name}")
    console.put_lines([name, name])
    console.say(name)
    seen = capsys.readouterr()
    for text, lines in ((seen.out, 3), (seen.err, 1)):
        assert is_text(text)
        assert text.count("\n") == lines
    if name.isprintable():
        assert seen.out == f"gold.shop.{name}\n{name}\n{name}\n"


@once
@given(names, names)
def test_a_table_keeps_its_rows(
    capsys: pytest.CaptureFixture[str], first: str, second: str
) -> None:
    grid = Grid()
    grid.column(first, "anywhere")
    grid.numbers(second, "never")
    grid.row(second, first)
    sheet = Sheet(width=100_000)
    sheet.grid(grid)
    sheet.line(first, "red")
    seen = capsys.readouterr().out
    assert is_text(seen)
    assert seen.count("\n") == 4


@pytest.mark.parametrize("value", AT_A_TERMINAL)
def test_an_answer_is_faithful_in_a_file_and_visible_at_a_terminal(
    terminal: tuple[TextIO, Callable[[], str]], value: str
) -> None:
    answer = QueryAnswer(
        [value],
        lambda: iter([[value]]),
        lambda: iter([json.dumps({"a": value}, ensure_ascii=False)]),
    )
    saved = io.StringIO(newline="")
    print_rows(answer, "csv", saved)
    saved.seek(0)
    assert [*csv.reader(saved)] == [[value], [value]]
    out, written = terminal
    for style in ("csv", "table", "jsonl"):
        print_rows(answer, style, out)
        seen = written()
        assert value not in seen
        # Heads of a table are bold.
        assert is_text(re.sub(r"\x1b\[[01]m", "", seen)), style
    print_rows(answer, "jsonl", out)
    assert json.loads(written()) == {"a": value}


@once
@given(names)
def test_what_is_wrong_is_told_in_lines_of_weirs_own(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    faults: list[tuple[Exception, int]] = [
        (UnknownKey(f"no gold table {name}"), 1),
        (FeedMisdeclared("shop.yaml", name, "is unknown", [name]), 1),
        (TablesFailed("shop", {name: f"SchemaChange: {name.splitlines()}", "b": "why"}), 3),
    ]
    for fault, lines in faults:
        assert is_text(str(fault))
        assert str(fault).count("\n") == lines - 1
        console.complain(fault)
        assert capsys.readouterr().err.count("\n") == lines
    console.print_error("shop", ValueError(name))
    seen = capsys.readouterr().err
    assert is_text(seen.replace("\t", ""))
    assert seen.splitlines()[-1].startswith(("error: ", "  "))


@pytest.mark.parametrize("fault", [WeirError("a\x1b[2Jb\nc"), RuntimeError("a\x1b[2Jb\nc")])
def test_an_error_that_ends_the_command_is_visible(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], fault: Exception
) -> None:
    def fails(**_: object) -> None:
        raise fault

    monkeypatch.setattr("orchestration.cli.main.cli", fails)
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == (2 if isinstance(fault, WeirError) else 1)
    seen = capsys.readouterr().err
    assert is_text(seen)
    assert "a\\x1b[2Jb" in seen


def test_a_log_shows_what_a_terminal_would_act_upon(caplog: pytest.LogCaptureFixture) -> None:
    before = logging.getLogRecordFactory()
    try:
        console.make_logs_visible()
        console.make_logs_visible()
        logging.getLogger("weir.test").error("red \x1b[31m\nnext")
        logging.getLogger("weir.test").error("%s", "red")
        make = logging.getLogRecordFactory()
        of_step = make("dagster", logging.INFO, console.__file__, 1, "a\nforged\x1b", (), None)
    finally:
        logging.setLogRecordFactory(before)
    assert of_step.getMessage() == "a\\nforged\\x1b"
    assert caplog.messages == ["red \\x1b[31m\nnext", "red"]


def test_what_a_step_says_is_one_line_in_dagsters_own_log(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the terminal in which Dagster's daemon was started, and in the history of its runs."""

    @dg.op
    def step(context: dg.OpExecutionContext) -> None:
        context.log.warning("name \x1b[2J\nforged")
        raise RuntimeError("fault \x1b[2J")

    @dg.job(executor_def=dg.in_process_executor)
    def job() -> None:
        step()

    before = logging.getLogRecordFactory()
    monkeypatch.setattr(console, "_OWN", (__file__,))
    try:
        console.make_logs_visible()
        with dg.DagsterInstance.ephemeral() as instance:
            assert not job.execute_in_process(instance=instance, raise_on_error=False).success
    finally:
        logging.setLogRecordFactory(before)
    seen = capfd.readouterr()
    assert "name \\x1b[2J\\nforged" in seen.err
    assert "fault \\x1b[2J" in seen.err
    assert "\x1b[2J" not in seen.err + seen.out


def test_a_long_name_leaves_room_for_the_numbers_beside_it() -> None:
    grid = Grid()
    grid.column("table", "never")
    for head in ("source events", "changes", "duplicates", "quarantined", "rows"):
        grid.numbers(head, "never")
    grid.row("name_" * 40, "1,234", "5", "6", "7", "8")
    out = io.StringIO()
    Sheet(out).grid(grid)
    head, _, row = out.getvalue().splitlines()
    assert head.split() == [
        "table",
        "source",
        "events",
        "changes",
        "duplicates",
        "quarantined",
        "rows",
    ]
    assert row.split()[1:] == ["1,234", "5", "6", "7", "8"]
    assert row.startswith("name_name_")


def test_silence_is_broken_with_what_is_being_waited_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The first silence is the shortest.
    assert console.FIRST_SILENCE < 2 < console.SILENCE < 10
    monkeypatch.setattr(console, "FIRST_SILENCE", 0.2)
    monkeypatch.setattr(console, "SILENCE", 0.4)
    with console.waiting("starting Spark"):
        time.sleep(1.2)
    said = capsys.readouterr().err.splitlines()
    assert len(said) > 1
    assert all(re.fullmatch(r"  … starting Spark \(\d s\)", line) for line in said)
    with console.waiting("reading"):
        console.say("one")
        time.sleep(0.3)
    # Who speaks often is not interrupted, and nothing is said once all is over.
    time.sleep(0.6)
    assert capsys.readouterr().err == "one\n"
