"""Questions that DuckDB answers have the answers of Spark, to the letter; and what may differ is left to Spark."""

from __future__ import annotations

import io
import os
import random
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Final

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from assets.columns.quoting import literal, quoted
from assets.executors.choice import AUTO, IN_PROCESS, SPARK
from assets.storage.lake import Lake, Layer
from orchestration.cli import query
from orchestration.cli.sql import in_duckdb, in_spark, question
from orchestration.cli.sql.answers import STYLES, print_rows
from orchestration.cli.sql.translation import Scope, Translation
from orchestration.cli.sql.values import LeftToSpark
from orchestration.resources import lake_of
from orchestration.spark.on_first_use import SparkOnFirstUse
from tests.support.hostile_names import HOSTILE, names
from transforms.errors import QueryRefused

NAN, INF = float("nan"), float("inf")
COLUMNS: Final = {
    "id": (pa.int32(), [1, 2, 3, 4, 5, 6, 7, 8]),
    "small": (pa.int16(), [3, -2, None, 0, 7, 7, -32768, 1]),
    "big": (pa.int64(), [9223372036854775807, -5, 0, None, 12, 12, 400, -9223372036854775807]),
    "credit": (
        pa.decimal128(10, 2),
        [Decimal(one) for one in ("12.50", "0.00", "-0.05", "0.05", "99999999.99")]
        + [None, Decimal("-7.25"), Decimal("7.25")],
    ),
    "rate": (
        pa.decimal128(20, 6),
        [Decimal(one) for one in ("0.000001", "-1.5", "2.345678", "1000000")]
        + [None, Decimal("0.5"), Decimal("-0.5"), Decimal("3")],
    ),
    "ratio": (pa.float64(), [0.1, NAN, INF, -INF, None, -0.0, 1.0e10, 2.5]),
    "part": (pa.float32(), [1.5, NAN, -INF, 0.001, None, 3.4028235e38, -0.0, 0.0]),
    "name": (pa.string(), ["Ada", None, 'é, "q"', "", "Žofie", "a\nline", "ǅ ﬀ ß", "😀日本"]),
    "kind": (pa.string(), ["B", "a", "b", None, "a", "B", " a ", "_%"]),
    "yes": (pa.bool_(), [True, False, None, True, True, False, None, False]),
    "day": (
        pa.date32(),
        [
            date(2025, 11, 19),
            date(1, 1, 1),
            None,
            date(2024, 2, 29),
            date(9999, 12, 31),
            date(1969, 12, 31),
            date(2025, 1, 31),
            date(2025, 11, 19),
        ],
    ),
    "at": (
        pa.timestamp("us", "UTC"),
        [
            datetime(2025, 11, 19, 21, 11, 0, 123456, tzinfo=UTC),
            datetime(1583, 1, 1, tzinfo=UTC),
            None,
            datetime(2024, 2, 29, 12, tzinfo=UTC),
            datetime(2025, 11, 19, 23, 59, 59, 500000, tzinfo=UTC),
            datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
            datetime(2025, 11, 19, tzinfo=UTC),
            datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        ],
    ),
    "bytes": (pa.binary(), [b"\x00\xff", b"", None, b"A", b"AB", b"\x80", b"A", b"\xc3\xa9"]),
    "list": (pa.list_(pa.int32()), [[1, None], [], None, [7], [7, 8, 9], [0], [], [5, 5]]),
    "pairs": (
        pa.map_(pa.string(), pa.int32()),
        [[("k", None), ("l", 2)], [], None, [("é", 1)], [("k", 5)], [], None, [("k", 7)]],
    ),
    "nested": (
        pa.struct([("x", pa.int32()), ("y", pa.string())]),
        [
            {"x": 1, "y": "z"},
            None,
            {"x": None, "y": None},
            None,
            None,
            {"x": 2, "y": "é"},
            None,
            None,
        ],
    ),
}
ORDERS: Final = {
    "number": (pa.int64(), [10, 11, 12, 13, 14, 15]),
    "id": (pa.int32(), [1, 2, 1, None, 99, 7]),
    "total": (
        pa.decimal128(12, 2),
        [Decimal("5.00"), None, Decimal("7.10"), *[Decimal("1.01")] * 3],
    ),
    "state": (pa.string(), ["new", "sent", "sent", None, "new", "é"]),
}


def table_of(columns: Mapping[str, tuple[pa.DataType, object]]) -> pa.Table:
    return pa.table([pa.array(cells, kind) for kind, cells in columns.values()], names=[*columns])


class Drawn:
    """Draws questions: columns and expressions of every kind, and what SQL puts around them."""

    def __init__(self, seed: int) -> None:
        self.some = random.Random(seed)

    def of(self, *choices: str) -> str:
        return self.some.choice(choices)

    def number(self, deep: int = 2) -> str:
        if not deep or self.some.random() < 0.3:
            return self.of("id", "small", "credit", "rate", "2", "-3", "1.50", "big", "5")
        a, b = self.number(deep - 1), self.number(deep - 1)
        return self.of(
            *(f"{a} + {b}", f"{a} - {b}", f"({a}) * {b}", f"-({a})", f"abs({a})"),
            *(f"coalesce({a}, {b})", f"CASE WHEN {self.truth(0)} THEN {a} ELSE {b} END"),
            *(f"length({self.text(0)})", f"year({self.moment()})", "size(list)", "nested.x"),
            *(
                f"({a}) / 4",
                f"({a}) % 3",
                "id DIV 2",
                f"round({a}, 1)",
                f"floor({a})",
                f"ceil({a})",
            ),
            *(f"CAST({a} AS DECIMAL(18, 1))", f"CAST({a} AS BIGINT)", f"CAST({a} AS DOUBLE)"),
            *("pairs['k']", "CAST('12' AS INT)", "datediff(day, DATE '2024-01-01')"),
            *("ratio * 2", "ratio", "part", f"if({self.truth(0)}, {a}, {b})", "greatest(id, 3)"),
            *("credit / rate", "credit / 3", "dayofweek(day)", "nullif(small, 7)"),
        )

    def text(self, deep: int = 2) -> str:
        if not deep or self.some.random() < 0.3:
            return self.of("name", "kind", "'a'", "'é'", '"it\'s"', "nested.y")
        a = self.text(deep - 1)
        return self.of(
            *(
                f"upper({a})",
                f"lower({a})",
                f"trim({a})",
                f"{a} || '-' || kind",
                f"concat({a}, 'x')",
            ),
            *(f"substring({a}, 2, 3)", f"substr({a}, 2)", f"replace({a}, 'a', 'bb')"),
            *(f"coalesce({a}, 'none')", "CAST(id AS STRING)", "CAST(credit AS STRING)"),
            *("CAST(day AS STRING)", "CAST(at AS STRING)", "CAST(yes AS STRING)", f"initcap({a})"),
            f"CASE kind WHEN 'a' THEN {a} END",
        )

    def moment(self) -> str:
        return self.of(
            *("day", "at", "at + INTERVAL 1 DAY", "day - INTERVAL 1 MONTH", "to_date(at)"),
            *("date_trunc('month', at)", "date_trunc('hour', at)", "CAST(day AS TIMESTAMP)"),
            *("date_add(day, 3)", "day + INTERVAL 2 HOUR", "at - INTERVAL 30 MINUTE"),
            *("date_trunc('week', day)", "TIMESTAMP '2025-11-19 01:02:03'", "CAST(at AS DATE)"),
        )

    def truth(self, deep: int = 2) -> str:
        if deep and self.some.random() < 0.4:
            a, b = self.truth(deep - 1), self.truth(deep - 1)
            return self.of(f"({a} AND {b})", f"({a} OR {b})", f"NOT {a}", f"({a}) IS TRUE")
        inner = min(deep, 1)
        sign = self.of("=", "<>", "<", ">=", "<=>", ">")
        return self.of(
            *(
                f"{self.number(inner)} {sign} {self.number(inner)}",
                f"{self.text(inner)} {sign} {self.text(inner)}",
            ),
            *(f"{self.moment()} {sign} {self.moment()}", f"day {sign} '2025-01-01'", "yes"),
            *(f"{self.text(inner)} IS NOT NULL", "id IN (1, 3, 9)", "kind NOT IN ('a', NULL)"),
            *(
                "kind LIKE 'a%'",
                "name LIKE '%_é%'",
                "credit BETWEEN 0 AND 10",
                "at >= '2024-02-29'",
            ),
            *(f"ratio {sign} 0", f"part {sign} part", "startswith(name, 'A')", "bytes = X'41'"),
        )

    def any(self) -> str:
        return self.of(
            *(self.number(), self.number(), self.text(), self.moment(), self.truth()),
            *("list", "pairs", "nested", "bytes", "ratio", "map_keys(pairs)"),
        )

    def aggregate(self) -> str:
        a, n = self.of("id", "small", "credit", "rate"), self.number(1)
        return self.of(
            *(
                "count(*)",
                f"count({n})",
                f"count(DISTINCT {self.text(1)})",
                f"sum({a})",
                f"sum({n})",
            ),
            *(
                f"avg({a})",
                f"min({self.text(1)})",
                f"max({self.moment()})",
                f"max({n})",
                "max(ratio)",
            ),
            *(
                f"count_if({self.truth(1)})",
                f"sum({a}) FILTER (WHERE {self.truth(1)})",
                "min(part)",
            ),
            *(f"sum(DISTINCT {a})", "every(yes)", "bool_or(yes)", "avg(ratio)", f"mean({a})"),
        )

    def window(self) -> str:
        over = self.of("PARTITION BY kind ", "PARTITION BY yes, kind ", "")
        order = self.of("ORDER BY id", "ORDER BY credit DESC, id", "ORDER BY ratio, id DESC")
        call = self.of("row_number()", "rank()", "dense_rank()", "lag(name)", "lead(id, 2, 0)")
        frame = self.of(
            *("", "ROWS BETWEEN 1 PRECEDING AND CURRENT ROW"),
            "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING",
        )
        return self.of(
            f"{call} OVER ({over}{order})",
            f"{self.of('sum(small)', 'count(*)', 'avg(credit)', 'max(name)', 'sum(credit)')}"
            f" OVER ({over}{order} {frame})",
            f"{self.of('sum(id)', 'min(day)', 'count(name)')} OVER ({over.strip()})",
            f"{self.of('percent_rank()', 'cume_dist()', 'ntile(3)')} OVER ({order})",
        )

    def columns(self, draw: list[str]) -> str:
        return ", ".join(
            one if self.some.random() < 0.4 else f"{one} AS c{at}" for at, one in enumerate(draw)
        )

    def question(self) -> str:
        where = self.of("", f" WHERE {self.truth()}")
        people = self.of(*["gold.shop.people"] * 5, "gold.shop.nobody")
        width = range(self.some.randint(1, 4))
        match self.some.randrange(8):
            case 0 | 1:
                order = self.of("id", "id DESC", "name DESC, id", "ratio, id", "day NULLS LAST, id")
                listed = self.columns([self.any() for _ in width])
                return f"SELECT id, {listed} FROM {people}{where} ORDER BY {order}"
            case 2:
                key = self.of("kind", "yes", "year(day)", "upper(kind)", "small > 0")
                having = self.of("", " HAVING count(*) > 1")
                listed = self.columns([self.aggregate() for _ in width])
                by = self.of(key, "1", "ALL")
                return f"SELECT {key}, {listed} FROM {people}{where} GROUP BY {by}{having}"
            case 3:
                return (
                    f"SELECT {self.columns([self.aggregate() for _ in width])} FROM {people}{where}"
                )
            case 4:
                listed = self.columns([self.window() for _ in width])
                return f"SELECT id, {listed} FROM {people}{where} ORDER BY id"
            case 5:
                side = self.of("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN")
                on = self.of("ON p.id = o.id", "USING (id)", "ON p.id = o.id AND o.total > 2")
                if "SEMI" in side:
                    return f"SELECT p.id, kind FROM {people} p {side} gold.shop.orders o ON p.id = o.id"
                listed = self.of(
                    "*", "p.name, state", "kind, state, total * 2 AS t", "o.id, p.id AS i"
                )
                return f"SELECT {listed} FROM {people} AS p {side} gold.shop.orders AS o {on}"
            case 6:
                return self.of(
                    f"SELECT id, explode(list) AS e FROM {people}{where}",
                    f"SELECT id, explode(pairs) FROM {people}{where}",
                    f"SELECT id, posexplode(list) FROM {people}",
                    f"SELECT id, p, e FROM {people} LATERAL VIEW OUTER posexplode(list) t AS p, e",
                    f"SELECT key, sum(value) AS s FROM {people} LATERAL VIEW explode(pairs) t GROUP BY key",
                    f"SELECT id, one FROM {people}, LATERAL explode(list) AS t(one){where}",
                )
        return self.of(
            f"SELECT id FROM {people}{where} UNION SELECT id FROM gold.shop.orders ORDER BY id",
            f"SELECT kind FROM {people} EXCEPT SELECT state FROM gold.shop.orders",
            f"SELECT id, small FROM {people} UNION ALL SELECT number, id FROM gold.shop.orders",
            f"SELECT DISTINCT {self.text()} AS t, yes FROM {people}{where} ORDER BY t, yes DESC",
            f"WITH a AS (SELECT id, {self.any()} AS v FROM {people}), b(i) AS (SELECT id FROM a)"
            " SELECT v, i FROM a JOIN b ON a.id = b.i ORDER BY i",
            f"SELECT id FROM {people} WHERE id IN (SELECT id FROM gold.shop.orders) ORDER BY id",
            f"SELECT id FROM {people} p WHERE NOT EXISTS"
            " (SELECT 1 FROM gold.shop.orders o WHERE o.id = p.id) ORDER BY id",
            f"SELECT (SELECT max(total) FROM gold.shop.orders) AS m, {self.text()} AS t FROM {people}",
            f"SELECT n, count(*) AS k FROM (SELECT {self.text()} AS n FROM {people}) GROUP BY n",
        )


LEFT_TO_SPARK = [
    "SELECT initcap(name) FROM gold.shop.people",
    "SELECT upper('straße')",
    "SELECT id FROM gold.shop.people WHERE id = '1'",
    "SELECT sum(ratio) FROM gold.shop.people",
    "SELECT round(ratio, 1) FROM gold.shop.people",
    "SELECT id / small FROM gold.shop.people",
    "SELECT CAST(name AS INT) FROM gold.shop.people",
    "SELECT ratio FROM gold.shop.people GROUP BY ratio",
    "SELECT 'it''s'",
    r"SELECT 'a\tb'",
    "SELECT id AS kind FROM gold.shop.people ORDER BY kind",
    "SELECT list[1] FROM gold.shop.people",
    "SELECT big + 1 FROM gold.shop.people",
    "SELECT CAST(ratio AS STRING) FROM gold.shop.people",
    "SELECT * FROM gold.shop.people TABLESAMPLE (50 PERCENT)",
    "SELECT * FROM gold.shop.people NATURAL JOIN gold.shop.orders",
    "SELECT name RLIKE 'A' FROM gold.shop.people",
    "SELECT nam FROM gold.shop.people",
    "SELECT name, count(*) FROM gold.shop.people GROUP BY id",
    "SELECT id FROM gold.shop.people VERSION AS OF 99",
    "SELECT id FROM gold.shop.people TIMESTAMP AS OF '1999-01-01'",
    "DESCRIBE gold.shop.people",
    "SELECT id FROM gold.shop.people WHERE ratio <=> 0",
    "SELECT o.* FROM gold.shop.people JOIN gold.shop.orders o USING (id)",
    "SELECT 1 FROM gold.shop.people a, gold.shop.people b RIGHT JOIN gold.shop.orders o ON o.id = b.id",
    "SELECT id FROM gold.shop.people WHERE day IN ('2025-11-19', '2024-02-29')",
    "SELECT key FROM gold.shop.people LATERAL VIEW explode(pairs)",
    "SELECT coalesce(day, '2025-01-01') FROM gold.shop.people",
]
WRITTEN_OUT = [
    "SELECT * FROM gold.shop.people",
    "SELECT ID, people.Kind, gold.shop.people.name FROM gold.shop.people ORDER BY ID",
    "SELECT * FROM gold.shop.people ORDER BY ratio DESC, id LIMIT 3 OFFSET 1",
    "SELECT nested.x, nested.y AS why, pairs['k'], list, CAST(id AS STRING), -id, 1.50, true FROM gold.shop.people",
    "SELECT window, n FROM silver.shop ORDER BY window, n",
    "SELECT count(*) AS n, max(id) AS last FROM gold.shop.marked",
    "SELECT count(*) FROM gold.shop.marked VERSION AS OF 0",
    "SELECT id, id FROM gold.shop.people ORDER BY id",
    "SELECT 5 AS n UNION SELECT id FROM gold.shop.people INTERSECT SELECT 2 UNION ALL SELECT 2 ORDER BY n",
    "SELECT key FROM gold.shop.people LATERAL VIEW explode(pairs) pair AS key, value ORDER BY key",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with tables of every type, an empty one, and one that is cut by windows."""
    folder = tmp_path_factory.mktemp("warehouse")
    for name, rows in (
        ("gold/shop/people", table_of(COLUMNS)),
        ("gold/shop/orders", table_of(ORDERS)),
        ("gold/shop/nobody", table_of(COLUMNS).slice(0, 0)),
    ):
        (folder / name).mkdir(parents=True)
        write_deltalake(folder / name, rows)
    windows = pa.table({"n": [1, 2, 3], "window": ["w2", "w1", "w2"]})
    (folder / "silver/shop").mkdir(parents=True)
    write_deltalake(folder / "silver/shop", windows, partition_by=["window"])
    return folder


def in_this_process(lake: Lake, sql: str, style: str = "csv") -> str | None:
    answer = query.answered_in_process(lake, question.parsed(sql))
    if answer is None:
        return None
    out = io.StringIO()
    print_rows(answer, style, out)
    return out.getvalue()


def by_spark(lake: Lake, sql: str, style: str = "csv") -> str:
    out = io.StringIO()
    print_rows(in_spark.of_spark(in_spark.answered(lake, question.parsed(sql))), style, out)
    return out.getvalue()


def compared(sql: str, found: str) -> list[str]:
    """The lines of an answer, in an order of their own where the question gives them none."""
    head, *rows = found.splitlines()
    return [head, *(rows if "ORDER BY" in sql.split(") ")[-1] else sorted(rows))]


def drawn(many: int) -> list[str]:
    """So many questions, of which no two are the same."""
    found: dict[str, None] = {}
    for seed in range(many):
        found[Drawn(seed).question()] = None
    return [*found]


def test_drawn_questions_have_the_answers_that_spark_gives(
    spark: SparkSession, folder: Path
) -> None:
    lake = lake_of(str(folder), {})
    marked = lake.path(Layer.GOLD, "shop", "marked")
    numbers = spark.range(0, 100, 1, 1)
    numbers.write.format("delta").option("delta.enableDeletionVectors", "true").save(marked)
    spark.sql(f"DELETE FROM delta.`{marked}` WHERE id % 10 != 0")
    for sql in WRITTEN_OUT:
        for style in STYLES:
            if style != "jsonl" or "id, id" not in sql:
                found = in_this_process(lake, sql, style)
                assert (sql, found) == (sql, by_spark(lake, sql, style))
    answered = {sql: in_this_process(lake, sql) for sql in drawn(180)}
    here = {sql: found for sql, found in answered.items() if found is not None}
    assert len(here) >= 100
    wrong = {}
    for sql, found in here.items():
        try:
            expected = by_spark(lake, sql)
        except QueryRefused as fault:
            # Spark adds in the order in which rows come, and may have too large a number on the way to a sum that fits.
            assert "ARITHMETIC_OVERFLOW" in str(fault) and "sum(" in sql
            continue
        if compared(sql, found) != compared(sql, expected):
            wrong[sql] = (found, expected)
    assert wrong == {}


@pytest.mark.parametrize("sql", LEFT_TO_SPARK)
def test_what_may_differ_is_left_to_spark(folder: Path, sql: str) -> None:
    assert in_this_process(lake_of(str(folder), {}), sql) is None


def test_a_large_table_is_left_to_spark_and_every_table_by_whom_wants_spark(folder: Path) -> None:
    lake, sql = lake_of(str(folder), {}), "SELECT id FROM gold.shop.people"
    for asked in (lake.by(AUTO, memory=3), lake.by(SPARK)):
        assert in_this_process(asked, sql) is None
    assert in_this_process(lake.by(IN_PROCESS, memory=3), sql) is not None
    assert isinstance(lake.pyspark, SparkOnFirstUse)
    assert lake.pyspark.resource._spark_session is None


def test_a_table_is_read_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "gold/shop/people"
    path.mkdir(parents=True)
    for at in range(3):
        write_deltalake(path, pa.table({"id": [at]}), mode="append")
        os.utime(path / f"_delta_log/{at:020}.json", (at * 60, at * 60))
    lake = lake_of(str(tmp_path), {})
    for as_of, rows in {
        "VERSION AS OF 0": "1",
        "VERSION AS OF 2": "3",
        "TIMESTAMP AS OF '1970-01-01 00:01:59'": "2",
        "TIMESTAMP AS OF '1970-01-01 00:02:00'": "3",
    }.items():
        asked = f"SELECT count(*) AS n FROM gold.shop.people {as_of}"
        assert in_this_process(lake, asked) == f"n\n{rows}\n"
    # What is later than the newest commit Delta refuses.
    late = "SELECT id FROM gold.shop.people TIMESTAMP AS OF '1970-01-01 00:02:01'"
    assert in_this_process(lake, late) is None


def test_tables_are_listed_and_one_that_is_not_there_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    query.query("show tables;", str(folder), "csv")
    names = capsys.readouterr().out.split()
    assert names[0] == "table" and {"gold.shop.nobody", "gold.shop.people"} <= {*names}
    with pytest.raises(QueryRefused, match=r"there is no such table in .*; did you mean"):
        in_this_process(lake_of(str(folder), {}), "SELECT * FROM gold.shop.peeple")
    with pytest.raises(QueryRefused, match="`weir status --details` names those of each feed"):
        question.names_as_rows(lake_of("s3a://bucket/lake", {}))


def is_text(name: str) -> bool:
    return bool(name) and name == name.encode("utf-8", "replace").decode()


def answer_of(name: str, text: str) -> pa.Table | None:
    """The rows with this text in the column of this name, of a table that has one such row."""
    rows = pa.table({name: [text, "another text", None], "n of the row": [1, 2, 3]})
    column = quoted(name)
    told = f"SELECT {column}, `n of the row` FROM gold.shop.a WHERE {column} = {literal(text)}"
    try:
        asked = question.parsed(told)
        made = Translation(lambda _: rows.schema, None).question(asked.statement, Scope())
    except (QueryRefused, LeftToSpark):
        return None
    return in_duckdb._run(made, {"t0": rows.rename_columns(["a0", "a1"])})


@settings(max_examples=300, deadline=None)
@given(names.filter(is_text), st.one_of(names.filter(is_text), st.sampled_from(HOSTILE)))
def test_a_name_and_a_text_are_themselves_or_are_left_to_spark(name: str, text: str) -> None:
    if name.lower() == "n of the row" or text == "another text" or "\\" in text:
        return
    found = answer_of(name, text)
    if found is not None:
        assert found.to_pylist() == [{name: text, "n of the row": 1}]
