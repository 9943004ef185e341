"""Tables of which every window brings the whole (``snapshots: replace``), from files to gold."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assets.executors.choice import IN_PROCESS
from assets.gold.fold import Applied
from assets.storage.lake import Lake, Layer
from orchestration.resources import lake_of
from tests.support.pet_feed import applied, change, lay
from transforms.feed.feed import Deletes, Feed, LossGuard, Table

COLUMNS = {"id": "int", "name": "string"}


class Dumps:
    """A feed of one table, whose files are written one after the other, a minute apart."""

    def __init__(
        self,
        lake: Lake,
        folder: Path,
        *,
        key: tuple[str, ...],
        rows: int = 100,
        deletes: Deletes = "remove",
    ) -> None:
        self.lake, self.folder, self.minutes = lake, folder, 0
        self.table = Table(
            *("people", key, COLUMNS, tuple(COLUMNS)), snapshots="replace", deletes=deletes
        )
        self.feed = Feed(
            *("dumps", "arcion_s3_csv", str(folder)),
            tables={"people": self.table},
            loss_guard=LossGuard(rows=rows),
        )

    def write(self, name: str, *rows: str) -> None:
        """Write a file of rows, in the place of the one that had its name."""
        content = "".join(f"{row}\n" for row in rows)
        lay(self.folder, name, content.encode())
        self.minutes += 1
        os.utime(self.folder / name, (1_763_600_000 + 60 * self.minutes,) * 2)

    def run(self, *hours: int) -> Applied:
        windows = [f"2026-11-20T{hour:02}" for hour in hours]
        return applied(self.lake, self.feed, windows)

    @property
    def rows(self) -> list[str]:
        stored = self.lake.in_process_table(Layer.GOLD, self.feed.name, "people")
        return sorted(f"{row['id']},{row['name']}" for row in stored.rows([*COLUMNS]))

    @property
    def deleted(self) -> dict[int, tuple[int, ...]]:
        """The ids of rows that are marked as deleted, and where in the source they were so.

        When is not known: some time before the dump that does not name them.
        """
        rows = self.lake.in_process_table(Layer.GOLD, self.feed.name, "people").rows()
        assert all(row["_weir_deleted_at"] is None for row in rows)
        return {
            row["id"]: tuple(row["_weir_log_position"]) for row in rows if row["_weir_is_deleted"]
        }


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return lake_of(str(tmp_path / "warehouse")).by(IN_PROCESS)


@pytest.fixture
def dumps(lake: Lake, tmp_path: Path) -> Dumps:
    return Dumps(lake, tmp_path / "landing", key=("id",))


def test_each_window_is_the_whole_table(dumps: Dumps) -> None:
    dumps.write("2026-11-20/01/people.csv", "1,Ada", "2,Bo", "3,Cy")
    dumps.write("2026-11-20/02/people.csv", "1,Ada Lind", "3,Cy", "4,Di")
    dumps.run(1)
    assert dumps.rows == ["1,Ada", "2,Bo", "3,Cy"]
    assert not dumps.run(2).held
    assert dumps.rows == ["1,Ada Lind", "3,Cy", "4,Di"]


def test_windows_may_come_in_any_order_and_several_at_once(dumps: Dumps) -> None:
    for hour, rows in {1: ["1,a"], 2: ["1,b", "2,b"], 3: ["2,c"]}.items():
        dumps.write(f"2026-11-20/{hour:02}/people.csv", *rows)
    dumps.run(3)
    dumps.run(1, 2)
    assert dumps.rows == ["2,c"]


@pytest.mark.parametrize("order", [(1, 2, 3, 4), (3, 1, 4, 2), (4, 3, 2, 1)])
def test_what_a_later_dump_does_not_name_is_marked_once(
    lake: Lake, tmp_path: Path, order: tuple[int, ...]
) -> None:
    dumps = Dumps(lake, tmp_path / "landing", key=("id",), deletes="mark")
    dumps.write("2026-11-20/01/people.csv", "1,Ada", "2,Bo", "3,Cy")
    dumps.write("2026-11-20/02/people.csv", "1,Ada Lind", "3,Cy")
    dumps.write("2026-11-20/03/people.csv", "3,Cyd")
    # A key that is named again is live, and what no dump names any more has its last values.
    dumps.write("2026-11-20/04/people.csv", "1,Ada Berg", "3,Cyd")
    for hour in order:
        assert not dumps.run(hour).held
    assert dumps.rows == ["1,Ada Berg", "2,Bo", "3,Cyd"]
    (of_bo,) = dumps.deleted.items()
    assert of_bo[0] == 2
    # A dump marks what is live, and touches no row that is marked already.
    dumps.write("2026-11-20/05/people.csv", "1,Ada Berg")
    dumps.run(5)
    assert dumps.rows == ["1,Ada Berg", "2,Bo", "3,Cyd"]
    assert dumps.deleted.keys() == {2, 3}
    assert dumps.deleted[2] == of_bo[1] < dumps.deleted[3]


def test_a_file_that_is_written_over_is_another_dump(dumps: Dumps) -> None:
    dumps.write("2026-11-20/01/people.csv", "1,Ada", "2,Bo", "3,Cy")
    dumps.run(1)
    dumps.write("2026-11-20/01/people.csv", "1,Ada Lind", "3,Cy", "4,Di")
    assert not dumps.run(1).held
    assert dumps.rows == ["1,Ada Lind", "3,Cy", "4,Di"]


def test_both_files_of_a_dump_may_be_written_over(dumps: Dumps) -> None:
    for first in ("a", "b"):
        dumps.write("2026-11-20/01/people_1.csv", f"1,{first}", *(["2,a"] if first == "a" else []))
        dumps.write("2026-11-20/01/people_2.csv", f"3,{first}")
        assert not dumps.run(1).held
    assert dumps.rows == ["1,b", "3,b"]


def test_where_one_file_of_several_is_written_over_nobody_knows_what_is_gone(dumps: Dumps) -> None:
    dumps.write("2026-11-20/01/people_2.csv", "3,a")
    dumps.write("2026-11-20/01/people_1.csv", "1,a", "2,a")
    dumps.run(1)
    dumps.write("2026-11-20/01/people_1.csv", "1,b")
    (line,) = dumps.run(1).held
    assert "is not known to be complete, and gold has 2 rows that it does not name" in line
    assert dumps.rows == ["1,b", "2,a", "3,a"]


def test_a_table_without_a_key_has_as_many_equal_rows_as_its_newest_dump(
    lake: Lake, tmp_path: Path
) -> None:
    dumps = Dumps(lake, tmp_path / "landing", key=())
    dumps.write("2026-11-20/01/people.csv", "1,a", "1,a", "2,a")
    dumps.run(1)
    assert dumps.rows == ["1,a", "1,a", "2,a"]
    dumps.write("2026-11-20/02/people.csv", "1,a", "2,a", "2,a", "2,a")
    dumps.run(2)
    assert dumps.rows == ["1,a", "2,a", "2,a", "2,a"]


def test_a_dump_without_most_rows_waits(lake: Lake, tmp_path: Path) -> None:
    dumps = Dumps(lake, tmp_path / "landing", key=("id",), rows=3)
    dumps.write("2026-11-20/01/people.csv", *[f"{number},a" for number in range(10)])
    dumps.run(1)
    dumps.write("2026-11-20/02/people.csv", "1,b")
    (line,) = dumps.run(2).held
    assert "would remove 9 rows" in line
    assert len(dumps.rows) == 10


def test_a_change_of_a_single_row_is_no_part_of_a_dump(lake: Lake, tmp_path: Path) -> None:
    dumps = Dumps(lake, tmp_path / "landing", key=("id",))
    dumps.feed = Feed(
        *("changes", "arcion_s3_json", str(dumps.folder)), tables={"people": dumps.table}
    )
    row = '{"id": "1", "name": "a"}'
    changed = change("I", 5, after={"id": "2", "name": "b"}, table="people")
    dumps.write("2026-11-20/01/people.json", row, changed)
    dumps.run(1)
    assert dumps.rows == ["1,a"]
    quarantined = lake.in_process_table(Layer.QUARANTINE, "changes").rows(["reason", "line"])
    assert [(one["reason"], one["line"]) for one in quarantined] == [("not_of_a_dump", 2)]
