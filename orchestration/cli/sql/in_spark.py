"""A question answered by Spark: looked through before anything of it runs, and its rows as texts.

Spark's SQL reads any file by its path, starts programs (``TRANSFORM``), calls any method of Java (``reflect``) and
writes. So the plan that Spark's own parser makes of a statement is looked through before anything of it is analysed:
analysis already opens files and computes some values. No job of Spark runs for that.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any, Final

from py4j.java_gateway import JavaObject, is_instance_of
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.logger import PySparkLogger
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T
from sqlglot import exp

from assets.columns.quoting import quoted
from assets.storage.lake import Lake
from orchestration.cli.sql.answers import QueryAnswer, refuse_repeated
from orchestration.cli.sql.question import ALLOWED, Question, names_in, path_of, renamed, views_of
from transforms.errors import QueryRefused

if TYPE_CHECKING:
    from orchestration.cli.sql.as_of import Past

# Why not what sqlglot has parsed is looked through and handed to Spark: it would be another question now and then.
# sqlglot 30.30 reads 'it''s' as its, where Spark 4.2 reads it's. So Spark gets the statement as it was typed, with the
# names of tables replaced, and what it makes of that is looked at, which leaves no room for a difference of parsers.


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PLANS: Final = _words(
    """
    Project Filter Aggregate Distinct Sort GlobalLimit LocalLimit LimitAll Offset Sample
    Repartition RepartitionByExpression Union Intersect Except Join LateralJoin NearestByJoin
    Generate Pivot Unpivot SubqueryAlias UnresolvedWith WithWindowDefinition UnresolvedHaving
    UnresolvedQualify UnresolvedHint UnresolvedSubqueryColumnAliases UnresolvedTVFAliases
    PipeOperator UnresolvedInlineTable ResolvedInlineTable LocalRelation OneRowRelation
    UnresolvedRelation RelationTimeTravel UnresolvedTableValuedFunction DescribeRelation
    DescribeDeltaHistory DescribeQueryCommand UnresolvedTable UnresolvedTableOrView
    """
)
"""What rows are made of and go through."""

NAMED: Final = _words(
    """
    UnresolvedRelation UnresolvedTable UnresolvedTableOrView
    """
)
"""Those of them that name a table."""

EXPRESSIONS: Final = _words(
    """
    Literal UnresolvedAttribute AttributeReference UnresolvedStar UnresolvedRegex
    UnresolvedStarExceptOrReplace UnresolvedExtractValue SemiStructuredExtract UnresolvedAlias
    Alias MultiAlias UnresolvedOrdinal PipeExpression UnresolvedFunction UnresolvedGenerator
    NamedArgumentExpression LambdaFunction UnresolvedNamedLambdaVariable CreateNamedStruct
    ScalarSubquery Exists ListQuery InSubquery LateralSubquery And Or Not EqualTo EqualNullSafe
    LessThan LessThanOrEqual GreaterThan GreaterThanOrEqual In IsNull IsNotNull IsUnknown
    IsNotUnknown Like ILike RLike LikeAll LikeAny NotLikeAll NotLikeAny Between Add Subtract
    Multiply Divide IntegralDivide Remainder UnaryMinus UnaryPositive BitwiseAnd BitwiseOr
    BitwiseXor BitwiseNot ShiftLeft ShiftRight ShiftRightUnsigned Cast CaseWhen Coalesce Concat
    Lower Overlay Substring StringLocate StringTrim StringTrimLeft StringTrimRight Collate
    UnresolvedCollation CurrentDate CurrentTime CurrentTimestamp CurrentUser TimestampAdd
    TimestampDiff AggregateExpression AnyValue First Last Cube Rollup GroupingSets SortOrder
    WindowExpression UnresolvedWindowExpression WindowSpecDefinition WindowSpecReference
    SpecifiedWindowFrame UnspecifiedFrame CurrentRow UnboundedPreceding UnboundedFollowing
    """
)
"""What values are made of. Functions are called by name, and looked up."""

FUNCTION_GROUPS: Final = _words(
    """
    agg_funcs array_funcs bitwise_funcs collection_funcs conditional_funcs conversion_funcs
    csv_funcs datetime_funcs generator_funcs hash_funcs json_funcs lambda_funcs map_funcs
    math_funcs predicate_funcs sketch_funcs st_funcs string_funcs struct_funcs url_funcs
    variant_funcs vector_funcs window_funcs
    """
)
"""Groups of Spark's own functions, as its documentation has them, that compute with their arguments alone.

Those of XML, Avro and Protobuf are left out: their texts and options may name files and addresses, which are read.
"""

OTHER_FUNCTIONS: Final = _words(
    """
    aes_decrypt aes_encrypt try_aes_decrypt assert_true raise_error typeof uuid
    bitmap_bit_position bitmap_bucket_number bitmap_count version user current_catalog
    current_database current_path current_schema current_user session_user input_file_block_length
    input_file_block_start input_file_name monotonically_increasing_id spark_partition_id
    """
)
"""Those of the group of what fits nowhere else, in which Spark also has the ones that call any method of Java."""

TABLE_FUNCTIONS: Final = _words(
    """
    range explode explode_outer posexplode posexplode_outer inline json_tuple inline_outer stack
    variant_explode variant_explode_outer collations sql_keywords
    """
)
"""Functions that stand where a table may stand, and make their rows of their arguments alone."""

_NODE: Final = "org.apache.spark.sql.catalyst.trees.TreeNode"
_ITERABLE: Final = "scala.collection.Iterable"
_HOLDING: Final = (_ITERABLE, "scala.Product")
"""What has parts, in Java."""

_CALLING: Final = ("UnresolvedFunction", "UnresolvedGenerator", "UnresolvedTableValuedFunction")

_TYPED: Final = {
    "ScriptTransformation": "TRANSFORM",
    "PlanWithUnresolvedIdentifier": "IDENTIFIER",
    "ExpressionWithUnresolvedIdentifier": "IDENTIFIER",
    "UnresolvedExecuteImmediate": "EXECUTE IMMEDIATE",
    "InsertIntoStatement": "INSERT",
    "InsertIntoDir": "INSERT OVERWRITE DIRECTORY",
}
"""What a person typed of which Spark makes such a part, where its name is another."""


def check_allowed(
    spark: SparkSession, sql: str, prepared: str, tables: Collection[tuple[str, ...]]
) -> None:
    """Look through what Spark would run.

    Args:
        spark: the session, whose parser is asked; nothing is run.
        sql: the statement as a person typed it, for the error.
        prepared: the statement with Spark's names in the place of Weir's tables.
        tables: these names, by their parts: views, and paths of Delta where no view serves.

    Raises:
        QueryRefused: it does something else than to read Weir's tables.
        PySparkException: Spark does not understand it.
    """
    root = spark._jsparkSession.sessionState().sqlParser().parsePlan(prepared)
    nodes = list(_nodes(spark, root))
    own = {name.lower() for kind, node in nodes for name in _given_by_with(kind, node)}
    own |= {parts[0].lower() for parts in tables if len(parts) == 1}

    for kind, node in nodes:
        fault = _fault_of_part(kind)
        if fault is None and kind in NAMED:
            parts = _texts(node.multipartIdentifier())
            is_own = len(parts) == 1 and parts[0].lower() in own
            if not is_own and tuple(parts) not in tables:
                fault = f"{'.'.join(parts)} is none of these tables"
            elif kind == "UnresolvedRelation" and not node.options().isEmpty():
                fault = "options of a table are not among what it may have"
        elif fault is None and kind in _CALLING:
            fault = _fault_of_call(spark, kind, node)
        if fault is not None:
            raise QueryRefused(sql, f"{ALLOWED}, and {fault}")


def _nodes(spark: SparkSession, root: JavaObject) -> Iterator[tuple[str, JavaObject]]:
    """Whatever a plan consists of, at any depth, each with its kind: the name of its class.

    Plans and expressions do not list all that they hold as their children (the queries of a WITH, a window by name, the
    query in an expression), so that each part of each part is looked at.
    """
    gateway = spark.sparkContext._gateway
    # Each question goes to Java and back, so that it is asked once of a class.
    known: dict[str, tuple[bool, str]] = {}
    waiting = [root]
    while waiting:
        part = waiting.pop()
        name: str = part.getClass().getName()
        if name not in known:
            holding = (one for one in _HOLDING if is_instance_of(gateway, part, one))
            known[name] = is_instance_of(gateway, part, _NODE), next(holding, "")
        is_node, holds = known[name]
        kind = name.rsplit(".", 1)[-1].rstrip("$")
        if is_node:
            yield kind, part
        # A literal has a value and a type, in which there is nothing to find; of them there may be thousands.
        if holds and kind != "Literal":
            parts = part.iterator() if holds == _ITERABLE else part.productIterator()
            while parts.hasNext():
                one = parts.next()
                if isinstance(one, JavaObject):
                    waiting.append(one)


def _given_by_with(kind: str, node: JavaObject) -> list[str]:
    """The names that a WITH gives to its queries."""
    if kind != "UnresolvedWith":
        return []
    queries = node.cteRelations()
    return [queries.apply(at)._1() for at in range(queries.size())]


def _fault_of_part(kind: str) -> str | None:
    """What is wrong with a part of a plan of this kind, wherever it stands; None where it may be there."""
    if kind in PLANS or kind in EXPRESSIONS:
        return None
    return f"{_TYPED.get(kind, kind)} is not among what it may have"


def _fault_of_call(spark: SparkSession, kind: str, node: JavaObject) -> str | None:
    """What is wrong with a function that is called; None where it computes with its arguments alone."""
    match kind:
        case "UnresolvedFunction":
            parts = _texts(node.nameParts())
        case "UnresolvedGenerator":
            parts = node.name().unquotedString().split(".")
        case _:
            parts = _texts(node.name())
    name = parts[-1].lower()
    # Spark's own are found by these names, whatever else there is in a session.
    is_own = [part.lower() for part in parts[:-1]] in ([], ["builtin"], ["system", "builtin"])
    if kind == "UnresolvedTableValuedFunction":
        is_known = name in TABLE_FUNCTIONS
    else:
        is_known = name in OTHER_FUNCTIONS or _group_of(spark, name) in FUNCTION_GROUPS
    return None if is_own and is_known else f"the function {'.'.join(parts)} is not among them"


def _group_of(spark: SparkSession, name: str) -> str | None:
    """The group in which Spark's documentation has a function of its own; None where it has no such function."""
    jvm: Any = spark._jvm
    found = jvm.org.apache.spark.sql.catalyst.analysis.FunctionRegistry.expressions().get(name)
    return None if found.isEmpty() else str(found.get()._1().getGroup())


def _texts(names: JavaObject) -> list[str]:
    """The parts of a name."""
    return [names.apply(at) for at in range(names.size())]


def answered(lake: Lake, question: Question, past: Past | None = None) -> DataFrame:
    """The rows of one statement that reads, in which Weir's tables have their Weir names; nothing is computed yet.

    ``past``: the tables as they were at a cut.

    Raises:
        QueryRefused: It is no such statement, does more than to read Weir's tables, or Spark does not understand it.
    """
    sql, statement = question.sql, question.statement
    # A fault is reported once, in Weir's words: this logger would print it too, with its stack.
    PySparkLogger.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    paths = {name: path_of(lake, name) for name in names_in(statement)}
    by_path = {name: f"delta.{quoted(path)}" for name, path in paths.items()}
    views = views_of(statement)
    if isinstance(statement, exp.Describe) and isinstance(statement.this, exp.Table):
        # Of the table itself and not of a view of it, so that its history can be shown, too.
        prepared, views = renamed(sql, statement, by_path), {}
    else:
        by_view = {name: quoted(view) for name, view in views.items()}
        # A view is of a table as it is now.
        prepared = renamed(sql, statement, by_view, by_path)
    tables = {(view,) for view in views.values()} | {("delta", path) for path in paths.values()}
    try:
        check_allowed(lake.spark, sql, prepared, tables)
        for name, view in views.items():
            rows = (
                lake.spark.read.format("delta").load(paths[name])
                if past is None
                else past.tables[name].by_spark()
            )
            rows.createOrReplaceTempView(quoted(view))
        return lake.spark.sql(prepared)
    except PySparkException as fault:
        raise refusal(sql, fault) from fault


def refusal(what: str, fault: PySparkException | Py4JJavaError) -> QueryRefused:
    """The error that has Spark's own words on what is wrong, without the plan and the stack that follow them."""
    text = str(fault)
    if isinstance(fault, Py4JJavaError):
        cause = fault.java_exception
        while cause.getCause() is not None:
            cause = cause.getCause()
        text = str(cause.getMessage() or cause)
    return QueryRefused(what, text.strip().split("\n")[0].strip().removesuffix("."))


def read(rows: DataFrame) -> Iterator[Row]:
    """The rows, a partition at a time.

    Raises:
        QueryRefused: Spark found a fault only now; its own words say which.
    """
    try:
        yield from rows.toLocalIterator()
    except (PySparkException, Py4JJavaError) as fault:
        raise refusal("reading the answer", fault) from fault


def of_spark(rows: DataFrame) -> QueryAnswer:
    """The rows, to be printed a partition at a time."""
    binary = frozenset(
        at
        for at, field in enumerate(rows.schema.fields)
        if isinstance(field.dataType, T.BinaryType)
    )
    return QueryAnswer(rows.columns, lambda: texts(rows), lambda: json_lines(rows), binary)


def json_lines(rows: DataFrame) -> Iterator[str]:
    """One JSON object per row: numbers exact, timestamps ISO in UTC, binary base64, nulls kept.

    Raises:
        QueryRefused: several columns have one name.
    """
    refuse_repeated(rows.columns)
    whole = F.to_json(F.struct(*[F.col(quoted(name)) for name in rows.columns]), _JSON)
    for row in read(rows.select(whole.alias("line"))):
        yield row["line"]


_JSON = {
    "ignoreNullFields": "false",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}


def texts(rows: DataFrame) -> Iterator[list[str | None]]:
    """One list per row, of its values as texts: nested ones as JSON, binary as base64, timestamps ISO in UTC."""
    # Numbered, since a statement may give two columns one name.
    numbered = rows.toDF(*[str(number) for number in range(len(rows.columns))])

    def text(field: T.StructField) -> Column:
        column = F.col(quoted(field.name))
        match field.dataType:
            case T.ArrayType() | T.MapType() | T.StructType():
                return F.to_json(column, _JSON)
            case T.BinaryType():
                return F.base64(column)
            case T.TimestampType():
                return F.date_format(column, _JSON["timestampFormat"])
            case T.TimestampNTZType():
                return F.date_format(column, _JSON["timestampNTZFormat"])
        return column.cast("string")

    whole = F.array(*[text(field) for field in numbered.schema.fields]).alias("texts")
    for row in read(numbered.select(whole)):
        yield row["texts"]
