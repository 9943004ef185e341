"""How gold names tables and columns: by the rule that the feed file chooses, within what a Delta table can have."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from transforms.feed.feed import TableNames

TOMBSTONES: Final = "__tombstones"
"""What the name of the table beside a gold table ends with."""

HISTORY: Final = "__history"
"""What the name of a gold table's history ends with."""

UNFIT_IN_TABLE_NAMES: Final = (
    r"[/\\`\[\]|^\x00-\x1f\x7f-\x9f\u2028\u2029]|^\s|\s$|^\.+$|%[0-9A-Fa-f]{2}"
    r"|^_[Dd][Ee][Ll][Tt][Aa]_[Ll][Oo][Gg]$"
)
"""What a table's name cannot hold, for a folder is made of it. Valid in Python's ``re`` and in Java.

``%73`` would be read as the letter that it spells, delta-rs panics at a bracket, a bar or a caret in a path, and
``_delta_log`` is where Delta looks for a table's commits.
"""

_PARTS_KEPT: Final[dict[TableNames, int]] = {"plain": 1, "schema": 2, "catalog": 3}


def gold_name(table: str, table_names: TableNames) -> str:
    """Name the gold table of ``table``, schema.table or catalog.schema.table.

    As many of the last parts as ``table_names`` asks for are joined by two underscores; parts that the source's name
    does not have are not made up.
    """
    return "__".join(table.split(".")[-_PARTS_KEPT[table_names] :])


class StreamName(NamedTuple):
    """What a change names its table by; None is a name that it does not say. A name may have a dot in it."""

    catalog: str | None
    schema: str | None
    name: str | None

    @property
    def said(self) -> list[str]:
        """The names that it says."""
        return [one for one in self if one is not None]

    @property
    def spellings(self) -> list[str]:
        """What a feed file may call the table, most exactly first."""
        parts = [self, self[1:], self[2:]]
        return [".".join(one for one in some if one is not None) for some in parts]

    def as_declared(self, declared: str) -> StreamName:
        """The name once the feed file's name for the table has been found: that one adds what the change leaves out.

        What stands behind its last dot counts as the table's own name, also where the dot is one of the source's.
        """
        *qualifiers, name = declared.split(".")
        in_file: Sequence[str | None] = [None, None, *qualifiers]
        return StreamName(
            in_file[-2] if self.catalog is None else self.catalog,
            in_file[-1] if self.schema is None else self.schema,
            name,
        )

    def kept(self, table_names: TableNames) -> Sequence[str | None]:
        """The last of the names, of which gold's is made."""
        return self[-_PARTS_KEPT[table_names] :]

    def in_gold(self, table_names: TableNames) -> str | None:
        """What gold calls the table."""
        return "__".join(one for one in self.kept(table_names) if one is not None) or None


def asset_name(gold_table: str) -> str:
    """Name the table where only letters, digits and underscores may stand, as in Dagster's asset keys.

    Blanks, hyphens and dots become underscores, any other sign its code: names in another script stay apart.
    """
    plain = re.sub(r"[ .-]", "_", gold_table)
    return re.sub(r"\W", lambda sign: f"x{ord(sign[0]):x}_", plain, flags=re.ASCII)


# Columns of tables that only their stream describes. Ordinary databases have columns such as ``unit price``, ``a.b``,
# or ``id`` beside ``ID``, which a Delta table cannot have; silver keeps the source's names as they are.


EMPTY_NAME: Final = "_xFFFF_"
"""The spelling of a name without any sign."""

# What Delta or Spark's own names cannot hold, control characters, and halves of surrogate pairs, which are no text.
_UNFIT_IN_COLUMN_NAMES: Final = re.compile("[ ,;{}()=.`*\\x00-\\x1f\\x7f\\ud800-\\udfff]")
# What would read as a spelling.
_LIKE_A_SPELLING: Final = re.compile("_(?=[xX][0-9A-Fa-f]{4})")
_RESERVED: Final = ("_weir_", "_change_type", "_commit_version", "_commit_timestamp")


def spelled_columns(names: Iterable[str]) -> dict[str, str]:
    """The columns of one table that gold spells otherwise, each with gold's name of it.

    A sign that cannot stand is ``_x`` and its code in hexadecimal and ``_``, as SQL spells names in XML (ISO 9075-14):
    ``unit_x0020_price``. Of names that differ only in case each capital is spelled so, for SQL does not tell them
    apart. Two names never have one spelling, and which one a name has does not depend on what was seen first.
    """
    known = sorted(set(names))
    alike = Counter(name.lower() for name in known)
    found = {name: _spelled(name, capitals=alike[name.lower()] > 1) for name in known}
    return {name: text for name, text in found.items() if text != name}


def _spelled(name: str, *, capitals: bool) -> str:
    is_reserved = name.lower().startswith(_RESERVED)

    def stays(at: int, sign: str) -> bool:
        if sign == "_":
            return not (at == 0 and is_reserved) and not _LIKE_A_SPELLING.match(name, at)
        return not _UNFIT_IN_COLUMN_NAMES.match(sign) and not (capitals and sign != sign.lower())

    text = "".join(
        sign if stays(at, sign) else f"_x{ord(sign):04X}_" for at, sign in enumerate(name)
    )
    return text or EMPTY_NAME
