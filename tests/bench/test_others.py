"""Other tools beside Weir: an environment is made again only where it must be, and every tool makes the right table."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from bench import report
from bench.finding import Finding
from bench.lines.wanted import wanted_lines
from bench.made.restoring import Workspace
from bench.measuring import measured
from bench.others import environments, scripts
from bench.sizes import Sizes
from orchestration.resources import lake_of

LOCKS = sorted(environments.SCRIPTS.glob("*.lock"))


def of_changes(*some: tuple[int, list[int], int, bool]) -> pa.Table:
    """Key, position, quantity, and whether it is a delete."""
    kinds = {
        "id": pa.int64(),
        "_weir_log_position": pa.list_(pa.int64()),
        "quantity": pa.int32(),
        "is_delete": pa.bool_(),
    }
    columns = zip(*some, strict=True) if some else ([] for _ in kinds)
    return pa.table(
        {
            name: pa.array([*values], kind)
            for (name, kind), values in zip(kinds.items(), columns, strict=True)
        }
    )


def test_a_tool_takes_its_steps_in_a_process_of_its_own(tmp_path: Path) -> None:
    rows = of_changes(
        (1, [0, 5, 1], 10, False), (2, [0, 5, 2], 20, False), (3, [0, 5, 3], 30, False)
    )
    changes = of_changes(
        (1, [0, 6, 1], 11, False),
        (2, [0, 6, 1], 0, True),
        # Late.
        (3, [0, 4, 9], 31, False),
        (4, [0, 6, 1], 40, False),
        # A delete of what is not there.
        (5, [0, 6, 1], 0, True),
        # Newer than the one above.
        (1, [0, 6, 2], 12, False),
    )
    for name, table in (("rows", rows.drop(["is_delete"])), ("changes", changes)):
        (tmp_path / name).mkdir()
        pq.write_table(table, tmp_path / name / "part.parquet")
    seconds = scripts.run_steps(
        scripts.DELTA_RS,
        Path(sys.executable),
        tmp_path,
        ("prepare", tmp_path / "rows", tmp_path / "table"),
        ("merge", tmp_path / "changes", tmp_path / "table"),
        ("export", tmp_path / "table", tmp_path / "found.parquet"),
    )
    assert seconds > 0
    left = pq.read_table(tmp_path / "found.parquet").sort_by("id").to_pylist()
    assert [(row["id"], row["quantity"]) for row in left] == [(1, 12), (3, 30), (4, 40)]


def test_every_tool_has_a_script_a_lock_and_a_sentence_on_its_version(root: Path) -> None:
    assert [lock.stem for lock in LOCKS] == sorted(scripts.TOOLS.values())
    docs = (root / "docs" / "bench.md").read_text()
    for name, package in (
        (scripts.DELTA_RS, "deltalake"),
        (scripts.DLT, "dlt"),
        (scripts.DUCKDB, "duckdb"),
        (scripts.PAIMON, "pypaimon"),
    ):
        lock = (environments.SCRIPTS / f"{scripts.TOOLS[name]}.lock").read_text()
        found = re.search(rf"^{package}(?:\[.*?\])?==(\S+)", lock, re.MULTILINE)
        assert found is not None
        assert f"`{package}` {found[1]}" in docs


def environment(folder: Path, made_from: str | None) -> Path:
    """What a made environment looks like from outside: a Python, and what it was made from."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(sys.executable)
    if made_from is not None:
        (folder / environments.KEY).write_text(made_from)
    return folder


def test_an_environment_is_kept_as_long_as_its_lock_stays(tmp_path: Path) -> None:
    lock = tmp_path / "tool.lock"
    lock.write_text("tool==1\n")
    first = environments.key(lock)
    place = environment(tmp_path / "tool", first)
    assert environments.is_current(place, environments.key(lock))
    lock.write_text("tool==2\n")
    assert not environments.is_current(place, environments.key(lock))


def test_where_packages_cannot_be_had_the_tool_and_the_reason_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "scripts"
    folder.mkdir()
    (folder / "tool.lock").write_text(f"no-such-package-of-weir==1 --hash=sha256:{'0' * 64}\n")
    monkeypatch.setattr(environments, "SCRIPTS", folder)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(
        environments.NoEnvironment, match=r"no environment for tool: .*no-such-package"
    ):
        environments.python("tool", tmp_path / "made")
    # What was begun is not taken for an environment.
    assert not (tmp_path / "made" / "tool" / environments.KEY).exists()


@pytest.mark.journey
def test_the_tools_make_the_tables_that_they_should(spark: SparkSession, tmp_path: Path) -> None:
    work = Workspace(tmp_path, lake_of(str(tmp_path)))
    sizes = Sizes(rows=400, changes=300, tables=1, repeats=1)
    try:
        found = next(wanted_lines(work, sizes, ["others"], tmp_path / "environments"))
    except environments.NoEnvironment as error:
        pytest.skip(f"no index has the tools' packages: {str(error).splitlines()[-1]}")
    # A tool whose table is not what it should be is an error.
    finding = Finding.of(found, measured(spark, found, sizes.repeats))
    assert [*finding.samples] == ["weir", "textbook", "delta-rs", "dlt", "DuckDB"]
    for name in ("delta-rs", "dlt", "DuckDB"):
        (sample,) = finding.samples[name]
        assert (sample.seconds > 0, sample.jobs, sample.heap) == (True, None, None)
    late = re.search(r"([\d,]+) of its rows are older", found.notes[0])
    assert late is not None
    assert int(late[1]) > 0
    assert found.notes[0] in report.table([finding], {})
    # The environments stay as they are.
    made = (tmp_path / "environments" / "duckdb_merge" / environments.KEY).stat().st_mtime_ns
    python = environments.python("duckdb_merge", tmp_path / "environments")
    assert (python.parent.parent / environments.KEY).stat().st_mtime_ns == made
