"""One triple as an export of Dgraph writes it, before anything is judged.

Put here the parts of a triple, as they are written. Not here: reading them (``rdf``, ``documents``), and whether they
can be taken (``exported``).
"""

from __future__ import annotations

from typing import NamedTuple


class Triple(NamedTuple):
    """The parts as they are written: ``rdf`` and ``documents`` read them, ``exported`` judges them.

    ``node``: of an edge the node that it leads to, else None; ``value``: else the value. ``kind``: Dgraph's name of the
    value's type, or the one that is written where it is none of these; None where nobody tells it.
    ``language``: None where the value has none.
    """

    uid: str | None
    attr: str
    node: str | None
    value: str | None
    kind: str | None
    language: str | None
    namespace: str | None
    has_facets: bool
