"""What a person does not have to read in the table that ``weir query`` prints."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from orchestration.cli import query
from orchestration.cli.sql import question
from orchestration.cli.sql.answers import notice_of, of_arrow, shortened

DIGEST = "0123456789abcdef" * 4
ROWS = pa.table(
    {
        "id": [1],
        "checksum": [DIGEST],
        "_weir_event_id": [DIGEST],
        "_weir_log_position": pa.array([[0, 7]], pa.list_(pa.int64())),
    }
)


def columns_and_row(sql: str, rows: pa.Table = ROWS) -> tuple[list[str], list[str | None]]:
    short, _ = shortened(of_arrow(rows), question.parsed(sql).statement)
    (row,) = short.texts()
    return list(short.columns), row


def test_a_star_leaves_weirs_own_columns_out_and_says_so() -> None:
    parsed = question.parsed("SELECT * FROM gold.shop.customers").statement
    short, hidden = shortened(of_arrow(ROWS), parsed)
    assert list(short.columns) == ["id", "checksum"]
    assert hidden == ["_weir_event_id", "_weir_log_position"]
    assert notice_of(hidden) == (
        "2 columns of Weir's own left out (_weir_event_id, _weir_log_position);"
        " --all-columns shows them"
    )


def test_a_column_that_is_named_is_shown_with_the_beginning_of_its_digest() -> None:
    asked = "SELECT *, _weir_event_id FROM gold.shop.customers"
    assert columns_and_row(asked) == (
        ["id", "checksum", "_weir_event_id"],
        ["1", DIGEST, DIGEST[:12]],
    )


def test_a_digest_of_the_source_stays_whole() -> None:
    assert columns_and_row("SELECT id, checksum FROM gold.shop.customers")[1][1] == DIGEST


@pytest.mark.parametrize(
    ("payload", "printed"),
    [
        (b'{"id": 1,\n\t"name": "\xc3\x85sa"}', '{"id": 1,\n\t"name": "Åsa"}'),
        (b"\xff\x00", b64encode(b"\xff\x00").decode()),
        (b"bell \x07", b64encode(b"bell \x07").decode()),
        (None, None),
    ],
)
def test_a_record_is_printed_as_the_text_that_it_is(
    payload: bytes | None, printed: str | None
) -> None:
    rows = pa.table({"line": [1], "payload": pa.array([payload], pa.binary())})
    assert columns_and_row("SELECT line, payload FROM bronze.shop", rows)[1] == ["1", printed]


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("pets__history", "_weir_valid_from"),
        ("triples", "_weir_member"),
        ("pets__tombstones", "_weir_log_position"),
    ],
)
def test_what_says_what_a_row_is_stays(table: str, column: str) -> None:
    rows = pa.table({"id": [1], column: ["1"]})
    assert columns_and_row(f"SELECT * FROM gold.zoo.{table}", rows)[0] == ["id", column]


def test_a_count_of_all_rows_asks_for_no_column() -> None:
    rows = pa.table({"_weir_event_id": [DIGEST], "n": [3]})
    asked = "SELECT _weir_event_id, count(*) AS n FROM gold.shop.customers GROUP BY 1"
    assert columns_and_row(asked, rows)[0] == ["_weir_event_id", "n"]


@pytest.mark.parametrize(
    ("style", "all_columns", "is_whole"),
    [("table", False, False), ("table", True, True), ("csv", False, True), ("jsonl", False, True)],
)
def test_the_table_for_people_alone_is_short(
    style: str,
    all_columns: bool,
    is_whole: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "gold" / "shop" / "customers"
    path.mkdir(parents=True)
    write_deltalake(path, ROWS)
    query.query("SELECT * FROM gold.shop.customers", str(tmp_path), style, all_columns)
    printed = capsys.readouterr()
    assert ("_weir_log_position" in printed.out) is is_whole
    assert ("--all-columns" in printed.err) is not is_whole
    assert DIGEST in printed.out
