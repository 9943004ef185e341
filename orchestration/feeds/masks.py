"""Column masks as a feed file writes them, and the secret of those that hash, which stands in the environment.

Put here what is checked of ``mask``. Not here: what a mask makes of a value (``transforms/feed/masks``).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Final

from orchestration.feeds.faults import nearest
from orchestration.feeds.misdeclared import Misdeclared
from transforms.feed.feed import Table
from transforms.feed.masks import DROP, HASH, KINDS, SHORTEST_KEY, MaskKey, MaskKind

MASK_KEY: Final = "WEIR_MASK_KEY"
"""The setting that holds the secret under which values are hashed."""


def masks_from(
    place: str, declared: Mapping[str, str], table: Table, misdeclared: Misdeclared
) -> dict[str, MaskKind]:
    """The masks of a table, by column; ``place``: the table's, in the feed file.

    Raises:
        FeedMisdeclared: a column or a mask is none, a mask does not go with its column, or the secret is missing.
    """
    found: dict[str, MaskKind] = {}
    for column, word in declared.items():
        if fault := _fault(column, word, table):
            known = table.columns if column not in table.columns else ()
            raise misdeclared(f"{place}.mask.{column}", fault, known)
        kind = next((one for one in KINDS if one == word), None)
        if kind is None:
            raise misdeclared(
                f"{place}.mask.{column}", f"{word!r} is not a mask{nearest(word, KINDS)}", KINDS
            )
        if kind == HASH and (lacks := _lacks_key()):
            raise misdeclared(f"{place}.mask.{column}", lacks)
        found[column] = kind
    return found


def mask_key(tables: Iterable[Table]) -> MaskKey | None:
    """The secret, where a table hashes; feeds without such a mask do not know it."""
    is_needed = any(HASH in table.masks.values() for table in tables)
    return MaskKey(_secret()) if is_needed else None


def _fault(column: str, word: str, table: Table) -> str | None:
    if column in table.renamed:
        return f"is an earlier name: mask {table.renamed[column]}, and values under both names are masked"
    if column not in table.columns:
        return f"is no column of the table{nearest(column, table.columns)}"
    if word == HASH and (kind := table.columns[column]) != "string":
        return f"a hash is a text, and the column is declared as {kind}: declare string, or use null or drop"
    if word in KINDS and word != HASH and column in table.identity:
        why = (
            "the key's"
            if table.key
            else "in a table without a key, whose rows all columns tell apart"
        )
        return f"the column is {why}, and {word} leaves nothing that tells rows apart: use hash"
    return None


def _secret() -> str:
    # A file that a secret is mounted from often ends with a line break.
    return os.environ.get(MASK_KEY, "").strip()


def _lacks_key() -> str | None:
    """Why nothing can be hashed, in words that never show the secret."""
    length = len(_secret())
    if length >= SHORTEST_KEY:
        return None
    found = f"has fewer than {SHORTEST_KEY} characters" if length else "is not set"
    return (
        f"hash needs a secret of at least {SHORTEST_KEY} characters in the environment variable"
        f" {MASK_KEY}, which {found}"
    )


def without_dropped(table: Table, masks: Mapping[str, MaskKind]) -> dict[str, str]:
    """The columns of gold: those that no mask drops."""
    return {name: kind for name, kind in table.columns.items() if masks.get(name) != DROP}
