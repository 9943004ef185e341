"""``weir query`` reads Weir's tables and computes: no file, program or address is reached, in DuckDB or in Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from assets.storage.lake import Lake, Layer
from orchestration.cli import main
from orchestration.cli.sql import in_duckdb, in_spark, question
from orchestration.resources import lake_of
from transforms.errors import QueryRefused

REFLECT = "reflect('java.lang.System', 'getenv', 'HOME')"
SECRET = "hunter2"


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A warehouse of one table with two versions; a secret and a table that is not Weir's lie beside it."""
    folder = tmp_path_factory.mktemp("query")
    lake = lake_of(str(folder / "warehouse"), {})
    rows = "SELECT * FROM VALUES (1, 'Ada', array(1, 2)), (2, 'Bo', array(3)) AS (id, name, n)"
    table = lake.table(Layer.GOLD, "shop", "a")
    table.append(spark.sql(rows).coalesce(1))
    table.append(spark.sql("SELECT 3, 'Cy', array(4)").toDF("id", "name", "n"))
    spark.sql(f"SELECT '{SECRET}' AS name").write.format("delta").save(str(folder / "other"))
    spark.sql("SELECT 1").createOrReplaceTempView("not_of_this_statement")
    spark.udf.register("own_function", lambda text: text)
    (folder / "secret.csv").write_text(f"{SECRET}\n")
    return lake


def by_spark(lake: Lake, sql: str) -> DataFrame:
    return in_spark.answered(lake, question.parsed(sql))


def placed(lake: Lake, tmp_path: Path, sql: str) -> str:
    """The statement, with places of this machine for the words in it."""
    places = {
        "SECRET": str(Path(lake.warehouse).parent / "secret.csv"),
        "OTHER": str(Path(lake.warehouse).parent / "other"),
        "TABLE_PATH": lake.path(Layer.GOLD, "shop", "a"),
        "MARKED": str(tmp_path / "ran"),
    }
    for word, place in places.items():
        sql = sql.replace(word, place)
    return sql


# By what is found: the words that the error has for it.
TO_QUARANTINE = {
    "SELECT TRANSFORM (id) USING 'touch MARKED' AS (x) FROM gold.shop.a": "TRANSFORM",
    "SELECT * FROM (SELECT TRANSFORM (id) USING 'touch MARKED' AS (x) FROM gold.shop.a)": "TRANSFORM",
    "SELECT 1 WHERE EXISTS (SELECT TRANSFORM (id) USING 'touch MARKED' FROM gold.shop.a)": "TRANSFORM",
    "WITH t AS (SELECT TRANSFORM (1) USING 'touch MARKED' AS (x)) SELECT 1": "TRANSFORM",
    "FROM gold.shop.a MAP id USING 'touch MARKED' AS (x)": "",
    "FROM gold.shop.a REDUCE id USING 'touch MARKED' AS (x)": "",
    # Functions that call Java, in every place where there is an expression.
    f"SELECT {REFLECT}": "the function reflect",
    "SELECT Java_Method('java.lang.System', 'getenv', 'HOME')": "the function Java_Method",
    "SELECT try_reflect('java.lang.System', 'getenv', 'HOME')": "the function try_reflect",
    "SELECT `REFLECT`('java.lang.System', 'getenv', 'HOME')": "the function REFLECT",
    f"SELECT system.builtin.{REFLECT}": "the function system.builtin.reflect",
    f"SELECT `System`.`BuiltIn`.{REFLECT}": "the function System.BuiltIn.reflect",
    f"SELECT builtin.{REFLECT}": "the function builtin.reflect",
    f"SELECT id FROM gold.shop.a WHERE name = {REFLECT}": "the function reflect",
    f"SELECT count(*) FROM gold.shop.a GROUP BY {REFLECT}": "the function reflect",
    f"SELECT count(*) FROM gold.shop.a HAVING max(name) > {REFLECT}": "the function reflect",
    f"SELECT id FROM gold.shop.a ORDER BY {REFLECT}": "the function reflect",
    f"SELECT id FROM gold.shop.a LIMIT length({REFLECT})": "the function reflect",
    f"SELECT 1 FROM gold.shop.a a JOIN gold.shop.a b ON a.name = {REFLECT}": "the function reflect",
    f"SELECT 1 WHERE 'x' = (SELECT {REFLECT})": "the function reflect",
    f"SELECT 1 WHERE 'x' IN (SELECT {REFLECT})": "the function reflect",
    f"SELECT (SELECT max(x) FROM (SELECT upper({REFLECT}) AS x))": "the function reflect",
    f"SELECT transform(array(1), x -> {REFLECT})": "the function reflect",
    f"SELECT CASE WHEN true THEN {REFLECT} END": "the function reflect",
    f"SELECT count(*) FILTER (WHERE name = {REFLECT}) FROM gold.shop.a": "the function reflect",
    f"SELECT id FROM gold.shop.a QUALIFY max(name) OVER () > {REFLECT}": "the function reflect",
    f"SELECT count(*) OVER w FROM gold.shop.a WINDOW w AS (PARTITION BY {REFLECT})": "reflect",
    f"SELECT x FROM gold.shop.a LATERAL VIEW explode(array({REFLECT})) AS x": "reflect",
    "SELECT x FROM gold.shop.a LATERAL VIEW reflect('a', 'b') AS x": "the function reflect",
    f"SELECT * FROM gold.shop.a, LATERAL (SELECT {REFLECT})": "the function reflect",
    f"VALUES ({REFLECT})": "the function reflect",
    f"SELECT * FROM explode(array({REFLECT}))": "the function reflect",
    f"SELECT 1 UNION ALL SELECT {REFLECT}": "the function reflect",
    f"WITH never_named AS (SELECT {REFLECT}) SELECT 1": "the function reflect",
    f"SELECT * FROM (SELECT 1 AS a) PIVOT (count({REFLECT}) FOR a IN (1))": "reflect",
    f"SELECT id FROM gold.shop.a TIMESTAMP AS OF {REFLECT}": "",
    f"FROM gold.shop.a |> EXTEND {REFLECT} AS x": "",
    "SELECT * FROM own_function('x')": "the function own_function",
    "SELECT own_function('x')": "the function own_function",
    "SELECT system.session.own_function('x')": "the function system.session.own_function",
    "SELECT other.upper('x')": "the function other.upper",
    "SELECT from_xml(name, 'a INT', map('rowValidationXSDPath', 'SECRET')) FROM gold.shop.a": "from_xml",
    "SELECT xpath('<!DOCTYPE a SYSTEM \"file://SECRET\"><a/>', 'a')": "the function xpath",
    "SELECT from_protobuf(X'00', 'a', 'SECRET')": "the function from_protobuf",
    "SELECT from_avro(X'00', '{}', map('avroSchemaUrl', 'SECRET'))": "the function from_avro",
    # Files and tables that are not Weir's.
    "SELECT * FROM text.`SECRET`": "text.SECRET is none",
    "SELECT * FROM `csv`.`SECRET`": "csv.SECRET is none",
    "SELECT * FROM Parquet.`SECRET`": "Parquet.SECRET is none",
    "SELECT * FROM orc.`SECRET`": "orc.SECRET is none",
    "SELECT * FROM json.`SECRET` AS gold": "json.SECRET is none",
    "SELECT * FROM binaryFile.`SECRET`": "binaryFile.SECRET is none",
    "SELECT * FROM delta.`OTHER`": "delta.OTHER is none",
    "SELECT * FROM delta.`OTHER` VERSION AS OF 0": "delta.OTHER is none",
    "SELECT * FROM delta.`TABLE_PATH`": "is none of these tables",
    "WITH s AS (SELECT * FROM csv.`SECRET`) SELECT * FROM s": "csv.SECRET is none",
    "SELECT * FROM gold.shop.a WHERE name IN (SELECT _c0 FROM csv.`SECRET`)": "csv.SECRET is none",
    "SELECT (SELECT max(_c0) FROM csv.`SECRET`) FROM gold.shop.a": "csv.SECRET is none",
    "SELECT * FROM gold.shop.a JOIN csv.`SECRET`": "csv.SECRET is none",
    "SELECT * FROM gold.shop.a UNION ALL SELECT 1, _c0, NULL FROM csv.`SECRET`": "csv.SECRET is none",
    "SELECT * FROM IDENTIFIER('csv.`SECRET`')": "csv.SECRET is none",
    "SELECT * FROM IDENTIFIER(concat('csv', '.`SECRET`'))": "IDENTIFIER",
    "SELECT * FROM not_of_this_statement": "not_of_this_statement is none",
    "SELECT * FROM global_temp.x": "global_temp.x is none",
    "SELECT * FROM default.x": "default.x is none",
    "SELECT * FROM spark_catalog.default.x": "spark_catalog.default.x is none",
    "SELECT * FROM gold.`..`.`..`": "no such table",
    "SELECT * FROM gold.`../..`.other": "no such table",
    "SELECT * FROM gold.shop.`../../../other`": "no such table",
    "SELECT * FROM gold.shop.`a/../../../../other` VERSION AS OF 0": "no such table",
    "SELECT * FROM table_changes_by_path('TABLE_PATH', 0)": "the function table_changes_by_path",
    "SELECT * FROM table_changes('gold.shop.a', 0)": "the function table_changes",
    "SELECT * FROM read_files('SECRET')": "the function read_files",
    "SELECT * FROM read_csv('SECRET')": "the function read_csv",
    "SELECT * FROM read_text('SECRET')": "the function read_text",
    "SELECT * FROM glob('/*')": "",
    "SELECT * FROM python_worker_logs()": "the function python_worker_logs",
    "SELECT * FROM system.session.range(3)": "the function system.session.range",
    # What is described, and what only looks like a question.
    "DESCRIBE csv.`SECRET`": "csv.SECRET is none",
    "DESCRIBE HISTORY delta.`OTHER`": "delta.OTHER is none",
    "DESCRIBE DETAIL '/'": "",
    "DESCRIBE FUNCTION reflect": "reflect is none",
    "DESCRIBE DATABASE default": "",
    f"DESCRIBE SELECT {REFLECT}": "the function reflect",
    "DESCRIBE SELECT * FROM csv.`SECRET`": "csv.SECRET is none",
    "EXPLAIN SELECT * FROM csv.`SECRET`": "begins with EXPLAIN",
    "EXPLAIN ANALYZE SELECT 1": "begins with EXPLAIN",
    "SELECT 1; SELECT 2": "one statement",
    "WITH a AS (SELECT 1 AS id) INSERT INTO gold.shop.a SELECT * FROM a": "",
    "FROM gold.shop.a INSERT INTO gold.shop.a SELECT *": "",
    "FROM gold.shop.a INSERT OVERWRITE DIRECTORY 'MARKED' USING csv SELECT 1": "",
    "INSERT OVERWRITE DIRECTORY 'MARKED' USING csv SELECT 1": "",
    "INSERT INTO gold.shop.a VALUES (1)": "begins with INSERT",
    "CREATE TABLE delta.`MARKED` AS SELECT 1": "begins with CREATE",
    "CREATE TEMPORARY FUNCTION f AS 'a.B' USING JAR 'SECRET'": "begins with CREATE",
    "DROP TABLE gold.shop.a": "begins with DROP",
    "TRUNCATE TABLE gold.shop.a": "begins with TRUNCATE",
    "MERGE INTO gold.shop.a USING gold.shop.a AS b ON false WHEN MATCHED THEN DELETE": "begins with MERGE",
    "DELETE FROM gold.shop.a": "begins with DELETE",
    "VACUUM gold.shop.a": "",
    "OPTIMIZE gold.shop.a": "",
    "ADD JAR 'SECRET'": "",
    "ADD FILE 'SECRET'": "",
    "LIST FILES": "",
    "SET spark.master = local": "begins with SET",
    "SET": "",
    "RESET": "",
    "CALL x()": "begins with CALL",
    "USE default": "begins with USE",
    "CACHE TABLE gold.shop.a": "begins with CACHE",
    "REFRESH 'SECRET'": "",
    "EXECUTE IMMEDIATE 'SELECT 1'": "",
    "BEGIN SELECT 1; END": "",
    "COPY gold.shop.a TO 'MARKED'": "",
    "ATTACH 'MARKED' AS other": "",
    "INSTALL httpfs": "",
    "PRAGMA database_list": "",
}


@pytest.mark.parametrize("sql", TO_QUARANTINE)
def test_what_is_not_weirs_is_refused(lake: Lake, tmp_path: Path, sql: str) -> None:
    typed = placed(lake, tmp_path, sql)
    with pytest.raises(QueryRefused) as refused:
        asked = question.parsed(typed)
        if in_duckdb.answered(lake, asked) is None:
            in_spark.answered(lake, asked).collect()
    assert placed(lake, tmp_path, TO_QUARANTINE[sql]) in refused.value.fault
    assert SECRET not in str(refused.value)
    # Spark's own words in brackets, but for those on a mistake in writing, mean that it went to look.
    assert not refused.value.fault.startswith("[") or "PARSE" in refused.value.fault
    assert not (tmp_path / "ran").exists()


USUAL = [
    "SELECT count(*) FROM gold.shop.a",
    "select A.Id from Gold.shop.a as A",
    "SELECT a.id, b.name FROM gold.shop.a AS a LEFT JOIN gold.shop.a AS b ON a.id = b.id + 1",
    "SELECT id, row_number() OVER (PARTITION BY name ORDER BY id DESC NULLS LAST) FROM gold.shop.a",
    "SELECT id, sum(id) OVER w FROM gold.shop.a"
    " WINDOW w AS (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING)",
    "SELECT last(id) IGNORE NULLS OVER (ORDER BY id RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)"
    " FROM gold.shop.a LIMIT 0",
    "WITH x AS (SELECT * FROM gold.shop.a), y AS (SELECT id FROM x) SELECT * FROM Y ORDER BY id LIMIT 1 OFFSET 1",
    "WITH RECURSIVE r(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT * FROM r",
    "SELECT * FROM gold.shop.a WHERE id = (SELECT max(id) FROM gold.shop.a)",
    "SELECT * FROM gold.shop.a AS a WHERE EXISTS (SELECT 1 FROM gold.shop.a AS b WHERE b.id > a.id)",
    "SELECT * FROM gold.shop.a WHERE id NOT IN (WITH x AS (SELECT 1 AS i) SELECT i FROM x)",
    "SELECT id, one FROM gold.shop.a LATERAL VIEW OUTER explode(n) AS one",
    "SELECT id, at, one FROM gold.shop.a LATERAL VIEW posexplode(n) t AS at, one",
    "SELECT id, one FROM gold.shop.a, LATERAL explode(n) AS t(one)",
    "SELECT id, m FROM gold.shop.a AS a, LATERAL (SELECT a.id + 1 AS m)",
    "SELECT explode(n), system.builtin.upper(name), builtin.lower(name) FROM gold.shop.a",
    "SELECT * FROM range(3)",
    "SELECT * FROM json_tuple('{\"a\": 1}', 'a')",
    "VALUES (1, 'a'), (2, 'b')",
    "SELECT * FROM VALUES (1, upper('a')), (2, 'b') AS t(i, x)",
    "SELECT name, count(*) FROM gold.shop.a GROUP BY ALL HAVING count(*) > 0",
    "SELECT id FROM gold.shop.a UNION ALL SELECT 3 EXCEPT SELECT 1 INTERSECT SELECT 1",
    "SELECT DISTINCT upper(name), transform(n, x -> x + 1), CASE WHEN id > 1 THEN 1 END FROM gold.shop.a",
    "SELECT * FROM (SELECT id, name FROM gold.shop.a) PIVOT (count(id) FOR name IN ('Ada', 'Bo'))",
    "SELECT * FROM (SELECT id AS a, id AS b FROM gold.shop.a) UNPIVOT (v FOR k IN (a, b))",
    "SELECT /*+ BROADCAST(a) */ * FROM gold.shop.a TABLESAMPLE (50 PERCENT)",
    "SELECT name, id FROM gold.shop.a GROUP BY GROUPING SETS ((name, id), (name))",
    "SELECT name, id, grouping_id() FROM gold.shop.a GROUP BY CUBE (name, id)",
    "SELECT name, count(*) FROM gold.shop.a GROUP BY name WITH ROLLUP",
    "SELECT * EXCEPT (n) FROM gold.shop.a QUALIFY row_number() OVER (ORDER BY id) = 1",
    "SELECT id FROM gold.shop.a DISTRIBUTE BY id SORT BY id",
    "SELECT 'a' COLLATE UNICODE, '1'::int, INTERVAL 1 DAY, extract(year FROM current_date), trim(BOTH FROM ' a'),"
    " name LIKE ANY ('A%', 'B%'), name ILIKE 'a%', name RLIKE 'A', position('a' IN name), n[0], current_timestamp(),"
    " id BETWEEN 1 AND 2, id IS NOT NULL, id <=> 1, -id, ~id, id DIV 2, id % 2, id & 1 | 2 ^ 3, name || 'x',"
    " substring(name FROM 1 FOR 2), overlay(name PLACING 'x' FROM 1), timestampdiff(DAY, now(), now()), current_user,"
    " id IS DISTINCT FROM 1, (id > 1) IS TRUE, named_struct('a', 1).a, map('k', 1)['k'], X'00', DATE '2025-11-19'"
    " FROM gold.shop.a",
    "SELECT count(DISTINCT id), count(*) FILTER (WHERE id > 1), any_value(id), first(id), last(id),"
    " percentile_cont(0.5) WITHIN GROUP (ORDER BY id), array_agg(name), max_by(name, id) FROM gold.shop.a",
    "SELECT variant_get(parse_json('{\"a\": 1}'), '$.a', 'int'), from_json('{}', 'a INT'),"
    " get_json_object(name, '$.a') FROM gold.shop.a",
    "SELECT input_file_name(), typeof(id), version(), sha2(name, 256), base64(unhex('00')) FROM gold.shop.a",
    "FROM gold.shop.a |> WHERE id = 1 |> SELECT id",
    "SELECT * FROM gold.shop.a VERSION AS OF 0",
    "DESCRIBE gold.shop.a",
    "DESCRIBE EXTENDED gold.shop.a",
    "DESCRIBE HISTORY gold.shop.a",
    "DESCRIBE SELECT * FROM gold.shop.a",
]


@pytest.mark.parametrize("sql", USUAL)
def test_usual_questions_are_answered(lake: Lake, sql: str) -> None:
    assert by_spark(lake, sql).columns


def test_a_table_is_read_as_it_was(lake: Lake) -> None:
    sql = """SELECT count(*), (SELECT count(*) FROM gold.shop.a) FROM gold.shop.a VERSION AS OF 0 AS old
        JOIN gold.shop.a AS now ON old.id = now.id"""
    assert [tuple(row) for row in by_spark(lake, sql).collect()] == [(2, 3)]
    history = by_spark(lake, "DESCRIBE HISTORY gold.shop.a").orderBy("version")
    first, last = (row[0].isoformat(" ") for row in history.select("timestamp").collect())
    for time, newest in ((first, 2), (last, 3)):
        asked = f"SELECT max(id) FROM gold.shop.a TIMESTAMP AS OF '{time}'"
        assert by_spark(lake, asked).collect() == [(newest,)]


@pytest.mark.parametrize("text", ["${env:HOME}", "${system:user.dir}", "${spark.app.name}"])
def test_text_in_a_statement_stays_as_it_is(lake: Lake, text: str) -> None:
    assert by_spark(lake, f"SELECT '{text}'").collect() == [(text,)]


def test_looking_through_a_statement_runs_no_job(spark: SparkSession) -> None:
    asked = "SELECT max(id) FROM range(9) WHERE id IN (SELECT id FROM range(5))"
    spark.sparkContext.setJobGroup("looking", "")
    jobs = spark.sparkContext.statusTracker()
    try:
        in_spark.check_allowed(spark, asked, asked, ())
        assert jobs.getJobIdsForGroup("looking") == []
        spark.sql(asked).collect()
        assert jobs.getJobIdsForGroup("looking") != []
    finally:
        spark.sparkContext.setJobGroup("", "")


def test_each_function_of_spark_was_looked_at(spark: SparkSession) -> None:
    """A Spark that has others has to be looked through for what reads, calls or writes."""
    jvm: Any = spark._jvm
    registry = jvm.org.apache.spark.sql.catalyst.analysis.FunctionRegistry
    names = registry.expressions().keys().mkString(" ").split()
    refused = {
        name
        for name in names
        if name not in in_spark.OTHER_FUNCTIONS
        and in_spark._group_of(spark, name) not in in_spark.FUNCTION_GROUPS
    }
    xml = {"from_xml", "schema_of_xml", "to_xml", "xpath", "xpath_boolean", "xpath_double"}
    xml |= {"xpath_float", "xpath_int", "xpath_long", "xpath_number", "xpath_short", "xpath_string"}
    binary = {"from_avro", "schema_of_avro", "to_avro", "from_protobuf", "to_protobuf"}
    assert refused == {"reflect", "java_method", "try_reflect"} | xml | binary
    assert len(names) == 564
    assert set(names) >= in_spark.OTHER_FUNCTIONS


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        (f"SELECT {REFLECT}", "the function reflect is not among them"),
        ("SELECT * FROM csv.`SECRET`", "is none of these tables"),
        ("DROP TABLE gold.shop.a", "this begins with DROP"),
    ],
)
def test_a_refused_statement_ends_with_2_and_says_what_is_allowed(
    lake: Lake, tmp_path: Path, capsys: pytest.CaptureFixture[str], sql: str, found: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main.main(["query", placed(lake, tmp_path, sql), "--warehouse", lake.warehouse])
    assert ended.value.code == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    (error,) = [line for line in printed.err.splitlines() if line.startswith("error: ")]
    assert found in error
    assert "Tables: bronze.<feed>" in error
