"""Where each key of a feed file stands, so that a fault names line and column.

Put here how a key's place is found. Not here: reading the file's content (``read_yaml``), and what is wrong with a key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

import yaml


class LineColumn(NamedTuple):
    """A place in a file; both are counted from 1."""

    line: int
    column: int


FIRST = LineColumn(1, 1)

Places: TypeAlias = Mapping[str, LineColumn]
"""The place of each key, by the keys that lead to it, with dots between them: ``tables.orders.key``."""


def places_in(file: Path) -> Places:
    """The places of all keys, and of the items of lists, of a file that is YAML."""
    root = yaml.compose(file.read_text(encoding="utf-8-sig"), yaml.SafeLoader)
    return {} if root is None else dict(_below(root, "", set()))


def place_of(places: Places, key: str) -> LineColumn | None:
    """Where the key stands; of one that is missing, where the nearest key around it does. None where none does."""
    while key:
        if key in places:
            return places[key]
        key = key.rpartition(".")[0]
    return None


def _below(node: yaml.Node, path: str, around: set[int]) -> Iterator[tuple[str, LineColumn]]:
    if id(node) in around:
        # An alias of what it stands in.
        return
    inside = {*around, id(node)}
    before = f"{path}." if path else ""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            name = f"{before}{key.value}"
            yield name, _place(key)
            yield from _below(value, name, inside)
    elif isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            name = f"{before}{number}"
            yield name, _place(item)
            yield from _below(item, name, inside)


def _place(node: yaml.Node) -> LineColumn:
    return LineColumn(node.start_mark.line + 1, node.start_mark.column + 1)
