"""The columns of bronze: one record of a landed object, verbatim, with where in the object it was."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_schema

HEADER = T.StructType(
    [T.StructField("key", T.StringType(), False), T.StructField("value", T.BinaryType(), True)]
)
"""One header of a Kafka record: several may have one name."""

BRONZE = T.StructType(
    [
        T.StructField("window", T.StringType(), False),
        T.StructField("object", T.StringType(), False),
        T.StructField("generation", T.StringType(), False),
        T.StructField("line", T.LongType(), False),
        T.StructField("byte_offset", T.LongType(), False),
        T.StructField("header", T.StringType(), True),
        T.StructField("payload", T.BinaryType(), True),
        T.StructField("defect", T.StringType(), True),
        T.StructField("landed_at", T.TimestampType(), False),
        T.StructField("key", T.BinaryType(), True),
        T.StructField("headers", T.ArrayType(HEADER), True),
    ]
)
"""One row per record of a landed object.

``window``: the landing window, ``2026-11-20T03`` or ``2026-11-20`` (the table is partitioned by it).
``object``, ``generation``: the object's name relative to the landing and its etag; ``line`` counts from 1 and
``byte_offset`` from 0 in the decompressed object: together the record's source location.
``header``: the CSV header line of the object, where it has one. ``payload``: the record's bytes, line ends left off.
``defect``: why the record could not be cut out whole (cut JSON, damaged gzip); null for a whole one.
``landed_at``: when the object was last modified in the landing.

Of a Kafka topic an object is a partition, ``<topic>/<number>``, its generation the topic's id; ``byte_offset`` is the
record's offset and ``line`` one more than that; ``payload`` is the value, null for a tombstone; ``landed_at`` is the
record's timestamp. Only such records have ``key`` and ``headers``.

An object that holds no record leaves one row with ``line`` 0 and no payload, so that it counts as read. So do offsets
without a record at the end of what was read of a partition: ``byte_offset`` is the last of them.
"""

BRONZE_ARROW: pa.Schema = to_arrow_schema(BRONZE, timezone="UTC")
"""``BRONZE`` as an Arrow schema."""
