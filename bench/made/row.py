"""The benchmark's ten columns: a row's values follow from its key and a version, in Python and in Spark alike.

So drops written by Python and tables written by Spark agree, and no state has to travel from one to the other.
"""

from __future__ import annotations

from datetime import date, timedelta

from pyspark.sql import Column
from pyspark.sql import functions as F

from transforms.feed.feed import Table

COLUMNS = {
    "id": "bigint",
    "code": "string",
    "name": "string",
    "city": "string",
    "quantity": "int",
    "price": "decimal(12,2)",
    "ratio": "double",
    "active": "boolean",
    "day": "date",
    "note": "string",
}
_FIRST_DAY = date(2020, 1, 1)
_MIXED = "((id * 2654435761 + version * 40503 + 12345) % 2147483647)"
_SQL = {
    "id": "cast(id AS string)",
    "code": "concat('K', lpad(cast(id AS string), 10, '0'))",
    "name": f"concat('name ', {_MIXED} % 100003)",
    "city": f"concat('city ', {_MIXED} % 97)",
    "quantity": f"cast({_MIXED} % 1000 AS string)",
    "price": f"concat({_MIXED} % 1000000 div 100, '.', lpad({_MIXED} % 100, 2, '0'))",
    "ratio": f"concat({_MIXED} % 4096, '.5')",
    "active": f"if({_MIXED} % 2 = 0, 'true', 'false')",
    "day": f"cast(date_add(DATE'2020-01-01', cast({_MIXED} % 2000 AS int)) AS string)",
    "note": f"repeat(lpad(lower(hex({_MIXED})), 8, '0'), 5)",
}


def table(name: str) -> Table:
    """A declared table of these columns."""
    return Table(name, ("id",), COLUMNS, tuple(COLUMNS))


def texts(id: int, version: int) -> dict[str, str]:
    """The values of one row, as a drop spells them."""
    mixed = (id * 2_654_435_761 + version * 40_503 + 12_345) % 2_147_483_647
    return {
        "id": str(id),
        "code": f"K{id:010}",
        "name": f"name {mixed % 100_003}",
        "city": f"city {mixed % 97}",
        "quantity": str(mixed % 1000),
        "price": f"{mixed % 1_000_000 // 100}.{mixed % 100:02}",
        "ratio": f"{mixed % 4096}.5",
        "active": "true" if mixed % 2 == 0 else "false",
        "day": (_FIRST_DAY + timedelta(days=mixed % 2000)).isoformat(),
        "note": f"{mixed:08x}" * 5,
    }


def text_columns() -> dict[str, Column]:
    """The same values as Spark columns of a frame that has ``id`` and ``version``."""
    return {name: F.expr(sql) for name, sql in _SQL.items()}
