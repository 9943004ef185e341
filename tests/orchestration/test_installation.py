from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from orchestration import installation
from orchestration.installation import Progress, install, pins

LOCK = """\
# made by: make lock
alpha==1.0 \\
    --hash=sha256:00
    # via weir (pyproject.toml)
beta[extra]==2.0 ; sys_platform == "win32" \\
    --hash=sha256:01
gamma-delta==3.0 \\
    --hash=sha256:02
"""
SAID = """\
Looking in links: somewhere
Ignoring beta: markers 'sys_platform == "win32"' don't match your environment
Collecting alpha==1.0 (from -r requirements.lock (line 2))
  Downloading alpha-1.0-py3-none-any.whl.metadata (1 kB)
  Downloading alpha-1.0-py3-none-any.whl (4 kB)
Collecting gamma-delta==3.0 (from -r requirements.lock (line 7))
  Using cached gamma_delta-3.0.tar.gz (9 MB)
"""
DONE = """\
Installing collected packages: gamma-delta, alpha
Successfully installed alpha-1.0 gamma-delta-3.0
"""
FAULT = """\
WARNING: Retrying after connection broken
ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.
    alpha==1.0 from somewhere:
        Expected sha256 00
             Got        03
"""


def run(said: str, code: int = 0, *, rewrites: bool = False) -> tuple[int, str]:
    """What is shown where pip says this and ends with this code."""
    out = io.StringIO()
    command = [sys.executable, "-c", f"print({said!r}, end=''); raise SystemExit({code})"]
    return install(command, Progress(pins(LOCK), out, rewrites=rewrites)), out.getvalue()


def without_seconds(shown: str) -> list[str]:
    return [line.rpartition(", ")[0] for line in shown.splitlines()]


def test_pins_are_counted_and_not_their_hashes() -> None:
    assert pins(LOCK) == 3


def test_it_says_how_far_it_is_and_nothing_else() -> None:
    code, shown = run(SAID + DONE)
    assert code == 0
    assert without_seconds(shown) == [
        "fetching packages: 1 of 2",
        "fetching packages: 2 of 2",
        "installing packages: 2 of 2",
    ]


def test_in_a_terminal_a_line_takes_the_place_of_the_one_before() -> None:
    _, shown = run(SAID + DONE, rewrites=True)
    *stretches, end = shown.split("\n")
    assert [stretch.rpartition("\r")[2].rpartition(", ")[0] for stretch in stretches] == [
        "fetching packages: 2 of 2",
        "installing packages: 2 of 2",
    ]
    assert end == ""


@pytest.mark.parametrize("rewrites", [False, True])
def test_where_pip_fails_its_message_is_shown_whole_and_warnings_once(rewrites: bool) -> None:
    code, shown = run(SAID + FAULT, 1, rewrites=rewrites)
    assert code == 1
    warning, message = FAULT.split("\n", 1)
    assert shown.endswith(f"\n{message}")
    assert shown.count(f"{warning}\n") == 1
    assert "Collecting" not in shown


def test_a_fault_that_begins_otherwise_is_shown_with_all_that_was_said() -> None:
    _, shown = run("no module named pip\n", 1)
    assert shown == "no module named pip\n"


def test_where_nothing_comes_for_long_it_says_so_ever_more_seldom(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    monkeypatch.setattr(installation, "monotonic", lambda: now)
    out = io.StringIO()
    progress = Progress(100, out, rewrites=False)
    for second in range(600):
        now = float(second)
        progress.show()
    times = [line.rpartition(", ")[2] for line in out.getvalue().splitlines()]
    assert times == ["31 s", "92 s", "213 s", "454 s"]


def test_the_installation_asks_for_hashes_and_names_no_place(root: Path) -> None:
    assert "--require-hashes" in installation.PIP
    text = (root / "orchestration" / "installation.py").read_text()
    assert "://" not in text and "index-url" not in text
