from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.suites import LONG, NUMBERED, SHARDS, Shard, part_of

PARTS = {**LONG, **NUMBERED}
MOST_SECONDS = 480
"""Of a shard, whose tests may take ten minutes where the machine is slower than the one that was measured."""


def test_each_part_of_the_long_suite_has_tests_and_each_long_test_is_in_one_shard(
    root: Path,
) -> None:
    """A part that is called otherwise, or a case of it, would be run by ``make test``."""
    command = (sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider")
    # Whoever has pytest say more of these tests has not asked this one.
    own = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    listed = subprocess.run(
        [*command, "-n0"], cwd=root, env=own, capture_output=True, text=True, check=False
    )
    found = [line for line in listed.stdout.splitlines() if line.startswith("tests/")]
    parts = Counter(map(part_of, found))
    assert [part for part in PARTS if not parts[part]] == []
    shards = [Shard(number, SHARDS) for number in range(1, SHARDS + 1)]
    twice_or_never = [
        one for one in found if part_of(one) and sum(shard.has(one) for shard in shards) != 1
    ]
    assert twice_or_never == []
    assert LONG.keys() & NUMBERED.keys() == set()


def test_a_shard_is_over_in_ten_minutes() -> None:
    seconds = [
        sum(PARTS[part] for part in Shard(number, SHARDS).parts) for number in range(1, SHARDS + 1)
    ]
    assert max(seconds) <= MOST_SECONDS


def test_a_test_is_in_the_part_that_names_it_most_closely(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("tests/a", "tests/a/test_b.py", "tests/a/test_b.py::test_c")
    for name in (*names, "tests/d.py::test_e[1]", "tests/f.py[by Spark]"):
        monkeypatch.setitem(LONG, name, 1)
    assert part_of("tests/a/test_b.py::test_c[x/y::z]") == "tests/a/test_b.py::test_c"
    assert part_of("tests/a/test_b.py::test_cc") == "tests/a/test_b.py"
    assert part_of("tests/a/b/test_b.py::test_c") == "tests/a"
    assert part_of("tests/ab/test_b.py::test_c") is None
    assert part_of("tests/d.py::test_e[1]") == "tests/d.py::test_e[1]"
    assert part_of("tests/d.py::test_e[2]") is None
    assert part_of("tests/f.py::test_g[by Spark]") == "tests/f.py[by Spark]"
    assert part_of("tests/f.py::test_g[here]") is None


@pytest.mark.parametrize("text", ["", "3", "0/12", "13/12", "3/0", "-1/12", "three/12", "3/12 "])
def test_what_is_no_shard_is_refused_in_words(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is no shard of the long suite: write"):
        Shard.read(text)
    assert Shard.read("3/12") == Shard(3, 12)


def test_ci_takes_one_of_all_shards(root: Path) -> None:
    (shards,) = re.findall(r"^shards=([0-9]+)$", (root / ".ci/run").read_text(), re.MULTILINE)
    assert int(shards) == SHARDS
