"""An answer made short for a person: records as text, short digests, and Weir's own columns only where asked for.

Programs read whole values (``jsonl``, ``csv``). Put here what is left out or cut in the table that is printed for a
person. Not here: the texts of values (``arrow_answer``, ``spark_answer``), and the layouts (``layouts``).
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from sqlglot import exp

from assets.wording import counted
from orchestration.cli.sql.answers import Answer
from orchestration.cli.sql.table_names import names_in
from transforms.feed.names import TOMBSTONES
from transforms.gold.columns import (
    BEGAN_BY,
    COPY,
    ENDED_BY,
    EVENT_AT,
    EVENT_ID,
    KEY,
    LOG_POSITION,
    RESET,
)

OWN: Final = frozenset({LOG_POSITION, EVENT_ID, EVENT_AT, RESET, KEY, COPY})
"""Columns that Weir adds to gold's tables. Those of a history, and of a graph's keys, say what a row is, and stay."""

DIGESTS: Final = frozenset({"event_id", "declaration", EVENT_ID, BEGAN_BY, ENDED_BY})
"""Columns of Weir's tables whose values are digests: their first letters tell them apart."""

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_SHOWN: Final = 12


def shortened(answer: Answer, statement: exp.Expr) -> tuple[Answer, list[str]]:
    """The answer for a person, and the names of the columns that are left out of it.

    Weir's own columns of gold are left out where only a star asks for them; of tombstones they are what there is.
    """
    named = {column.name for column in statement.find_all(exp.Column)}
    asks_for_all = next(statement.find_all(exp.Star), None) is not None
    of_tombstones = any(name[-1].endswith(TOMBSTONES) for name in names_in(statement))
    own = OWN - named if asks_for_all and not of_tombstones else frozenset[str]()
    kept = [at for at, name in enumerate(answer.columns) if name not in own]

    def texts() -> Iterator[list[str | None]]:
        for row in answer.texts():
            yield [_short(row[at], answer.columns[at], at in answer.binary) for at in kept]

    columns = [answer.columns[at] for at in kept]
    # No text is base64 any more.
    short = replace(answer, columns=columns, texts=texts, binary=frozenset())
    return short, [name for name in answer.columns if name in own]


def notice_of(hidden: list[str]) -> str:
    """What a person reads of columns that are left out."""
    return (
        f"{counted(len(hidden), 'column')} of Weir's own left out ({', '.join(hidden)});"
        " --all-columns shows them"
    )


def _short(text: str | None, column: str, is_binary: bool) -> str | None:
    if text is None:
        return None
    if is_binary:
        return _readable(text)
    if column in DIGESTS and _DIGEST.fullmatch(text):
        return text[:_SHOWN]
    return text


def _readable(in_base64: str) -> str:
    """The text that the bytes are, if they are one; else their base64."""
    try:
        text = b64decode(in_base64).decode()
    except UnicodeDecodeError:
        return in_base64
    return text if all(one.isprintable() or one in "\n\t" for one in text) else in_base64
