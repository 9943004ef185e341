"""Arcion on S3, CSV: one record is one row of a table, as a snapshot read it or as an operation changed it.

Arcion's ``amazon-s3`` applier writes such files. A row of a snapshot has as many fields as the table has columns. A row
of an operation has three fields for each column (its new value, its old value, and an exists flag, which says which of
the two images mention the column), and then ``opType``, ``cursor`` and ``operationcount``: with X columns, 3X+3 fields.

Which column a field belongs to is said by the header where the file has one, else by the feed file: ``columns`` for the
rows of a snapshot, ``cdc_columns`` for those of operations (Arcion's only sample has the columns in alphabetical
order). A row never names its table: the object's path does.

Null is the unquoted text NULL; a quoted "NULL" is a text of four letters. Blanks around unquoted values do not belong
to them. A quote inside quotes is doubled in the vendor's samples, and escaped with a backslash in its configuration: a
record is read by doubling where that fits its whole line, else by both ways.

What a record goes through: ``fields`` cuts it, ``layouts`` finds the column of each field, ``decode`` makes the event,
with what all Arcion's files share (``transforms/families/arcion``).

Vendor: Arcion documentation, "Arcion Internal CDC Format for Amazon S3", CSV file format; "amazon-s3" applier settings.
"""

from __future__ import annotations

from collections.abc import Iterator

from transforms.families.arcion import rows
from transforms.families.arcion.operation_counts import operations_so_far
from transforms.feed.feed import Feed
from transforms.feed.object_paths import table_of_object
from transforms.formats.arcion_s3_csv import proposing
from transforms.formats.arcion_s3_csv.decode import decoder
from transforms.record import Record
from transforms.records import csv_records
from transforms.records.limits import DEFAULTS, Limits
from transforms.source_format import SourceFormat


def split(data: bytes, feed: Feed, object_name: str, limits: Limits = DEFAULTS) -> Iterator[Record]:
    """CSV records; the header, where there is one, goes along with each."""
    table = feed.tables.get(table_of_object(object_name, feed.tables))
    return csv_records.split(data, table, feed.name, object_name, limits)


FORMAT = SourceFormat(
    name="arcion_s3_csv",
    files=("**/*.csv*",),
    split=split,
    decoder=decoder,
    recognise=proposing.recognise,
    propose=proposing.propose,
    operations_so_far=operations_so_far,
    warnings=(rows.FLAGS_DISAGREE,),
    unknowable=(
        rows.NO_COMMITS,
        "a text column's unquoted NULL: the format writes null the same way.",
    ),
)
