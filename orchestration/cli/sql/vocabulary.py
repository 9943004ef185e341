"""What a statement of ``weir query`` may consist of in Spark, by the names that Spark gives the parts of its plans.

What is not listed is refused, so that what a later Spark can do beside reading tables is refused until somebody has
looked at it. Put here what a statement may have. Not here: how a statement is looked through (``allowed``).
"""

from __future__ import annotations

from typing import Final

PLANS: Final = frozenset(
    {
        *(
            "Project",
            "Filter",
            "Aggregate",
            "Distinct",
            "Sort",
            "GlobalLimit",
            "LocalLimit",
            "LimitAll",
        ),
        *(
            "Offset",
            "Sample",
            "Repartition",
            "RepartitionByExpression",
            "Union",
            "Intersect",
            "Except",
        ),
        *("Join", "LateralJoin", "NearestByJoin", "Generate", "Pivot", "Unpivot", "SubqueryAlias"),
        *("UnresolvedWith", "WithWindowDefinition", "UnresolvedHaving", "UnresolvedQualify"),
        *(
            "UnresolvedHint",
            "UnresolvedSubqueryColumnAliases",
            "UnresolvedTVFAliases",
            "PipeOperator",
        ),
        *("UnresolvedInlineTable", "ResolvedInlineTable", "LocalRelation", "OneRowRelation"),
        *("UnresolvedRelation", "RelationTimeTravel", "UnresolvedTableValuedFunction"),
        # Of DESCRIBE and DESCRIBE HISTORY.
        *("DescribeRelation", "DescribeDeltaHistory", "DescribeQueryCommand"),
        *("UnresolvedTable", "UnresolvedTableOrView"),
    }
)
"""What rows are made of and go through."""

NAMED: Final = frozenset({"UnresolvedRelation", "UnresolvedTable", "UnresolvedTableOrView"})
"""Those of them that name a table."""

EXPRESSIONS: Final = frozenset(
    {
        *(
            "Literal",
            "UnresolvedAttribute",
            "AttributeReference",
            "UnresolvedStar",
            "UnresolvedRegex",
        ),
        *("UnresolvedStarExceptOrReplace", "UnresolvedExtractValue", "SemiStructuredExtract"),
        *("UnresolvedAlias", "Alias", "MultiAlias", "UnresolvedOrdinal", "PipeExpression"),
        *("UnresolvedFunction", "UnresolvedGenerator", "NamedArgumentExpression"),
        *("LambdaFunction", "UnresolvedNamedLambdaVariable", "CreateNamedStruct"),
        *("ScalarSubquery", "Exists", "ListQuery", "InSubquery", "LateralSubquery"),
        *(
            "And",
            "Or",
            "Not",
            "EqualTo",
            "EqualNullSafe",
            "LessThan",
            "LessThanOrEqual",
            "GreaterThan",
        ),
        *("GreaterThanOrEqual", "In", "IsNull", "IsNotNull", "IsUnknown", "IsNotUnknown"),
        *("Like", "ILike", "RLike", "LikeAll", "LikeAny", "NotLikeAll", "NotLikeAny", "Between"),
        *("Add", "Subtract", "Multiply", "Divide", "IntegralDivide", "Remainder", "UnaryMinus"),
        *("UnaryPositive", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot", "ShiftLeft"),
        *("ShiftRight", "ShiftRightUnsigned", "Cast", "CaseWhen", "Coalesce", "Concat", "Lower"),
        *(
            "Overlay",
            "Substring",
            "StringLocate",
            "StringTrim",
            "StringTrimLeft",
            "StringTrimRight",
        ),
        *("Collate", "UnresolvedCollation", "CurrentDate", "CurrentTime", "CurrentTimestamp"),
        *(
            "CurrentUser",
            "TimestampAdd",
            "TimestampDiff",
            "AggregateExpression",
            "AnyValue",
            "First",
        ),
        *("Last", "Cube", "Rollup", "GroupingSets", "SortOrder"),
        *("WindowExpression", "UnresolvedWindowExpression", "WindowSpecDefinition"),
        *("WindowSpecReference", "SpecifiedWindowFrame", "UnspecifiedFrame", "CurrentRow"),
        *("UnboundedPreceding", "UnboundedFollowing"),
    }
)
"""What values are made of. Functions are called by name, and looked up."""

FUNCTION_GROUPS: Final = frozenset(
    {
        *("agg_funcs", "array_funcs", "bitwise_funcs", "collection_funcs", "conditional_funcs"),
        *("conversion_funcs", "csv_funcs", "datetime_funcs", "generator_funcs", "hash_funcs"),
        *(
            "json_funcs",
            "lambda_funcs",
            "map_funcs",
            "math_funcs",
            "predicate_funcs",
            "sketch_funcs",
        ),
        *("st_funcs", "string_funcs", "struct_funcs", "url_funcs", "variant_funcs", "vector_funcs"),
        "window_funcs",
    }
)
"""Groups of Spark's own functions, as its documentation has them, that compute with their arguments alone.

Those of XML, Avro and Protobuf are left out: their texts and options may name files and addresses, which are read.
"""

OTHER_FUNCTIONS: Final = frozenset(
    {
        *(
            "aes_decrypt",
            "aes_encrypt",
            "try_aes_decrypt",
            "assert_true",
            "raise_error",
            "typeof",
            "uuid",
        ),
        *("bitmap_bit_position", "bitmap_bucket_number", "bitmap_count", "version", "user"),
        *("current_catalog", "current_database", "current_path", "current_schema", "current_user"),
        *("session_user", "input_file_block_length", "input_file_block_start", "input_file_name"),
        *("monotonically_increasing_id", "spark_partition_id"),
    }
)
"""Those of the group of what fits nowhere else, in which Spark also has the ones that call any method of Java."""

TABLE_FUNCTIONS: Final = frozenset(
    {
        *(
            "range",
            "explode",
            "explode_outer",
            "posexplode",
            "posexplode_outer",
            "inline",
            "json_tuple",
        ),
        *("inline_outer", "stack", "variant_explode", "variant_explode_outer", "collations"),
        "sql_keywords",
    }
)
"""Functions that stand where a table may stand, and make their rows of their arguments alone."""
