"""One row message of a GetChanges response, with its place in the response.

Put here what a row message holds. Not here: reading one (``get_changes``), giving it its place (``batches``), and what
it does (``decode``).

Vendor: yugabyte-db, src/yb/cdc/cdc_service.proto (RowMessage, CDCSDKProtoRecordPB).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from transforms.families.yugabyte.declared import Declared
from transforms.formats.yugabyte import schemas
from transforms.formats.yugabyte.tuples import NamedValue

OPERATIONS: Final[Mapping[str, str]] = {
    **{"0": "INSERT", "1": "UPDATE", "2": "DELETE", "3": "BEGIN", "4": "COMMIT", "5": "DDL"},
    **{"6": "TRUNCATE", "7": "READ", "8": "SAFEPOINT"},
}
"""RowMessage.Op by number; UNKNOWN (-1) is what a server says that does not know itself."""

ROWS: Final = frozenset(("INSERT", "UPDATE", "DELETE", "TRUNCATE"))
"""Operations that stand at their op id."""

AFTER_TRANSACTION: Final = 2_147_483_647
"""No write_id is larger: what stands here comes after all of its op."""

OpId = tuple[int, int, int]
"""Term, index and write_id."""


@dataclass(slots=True)
class RowMessage:
    """One row message, with its place in the response.

    ``row``: its fields, as they are written; the others are what most messages need of them. ``op_as_written``: the
    operation as it is written; ``op``: its name, None where it is not known. ``op_id``: None where it has none.
    ``key``: the values of its key, where they stand apart. ``schema``: what a DDL says of its table. ``declared``: the
    table, where the feed declares it. ``in_batch``, ``occurrence``, ``before``, ``after``: see ``batches``.
    """

    row: Mapping[str, Any]
    op_as_written: str | None
    op: str | None
    op_id: OpId | None
    transaction_id: str | None
    schema_name: str | None
    name: str | None
    new: Sequence[NamedValue]
    old: Sequence[NamedValue]
    key: Sequence[NamedValue]
    schema: schemas.TableSchema | None
    declared: Declared | None
    in_batch: int = 0
    occurrence: int | None = None
    before: OpId | None = None
    after: OpId | None = None
