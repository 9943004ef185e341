"""The YAML of a feed file, read without YAML's traps, and where each of its keys stands.

Every scalar is the text that was written: a column may be called ``on``, ``no`` or ``1`` and needs no quotes. The
same key twice in one mapping is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

import yaml

from transforms.errors import FeedMisdeclared

_WHOLE_FILE = "the file"
_UNQUOTED = "a text that holds ': ', ' #' or, within braces, a comma needs quotes"


class _DuplicateKey(yaml.constructor.ConstructorError):
    """One mapping names a key twice."""


class _TextLoader(yaml.SafeLoader):
    """YAML's safe loader, without its guesses about numbers, dates, yes and no."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:
        """Build one mapping, refusing a key that stands in it twice."""
        seen: dict[str, int] = {}
        for key, _ in node.value:
            # Only what is written here counts: a merge (<<) may be overridden.
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                line = key.start_mark.line + 1
                if key.value in seen:
                    first = seen[key.value]
                    fault = f"the key {key.value!r} stands on line {first} already"
                    raise _DuplicateKey(problem=fault, problem_mark=key.start_mark)
                seen[key.value] = line
        return super().construct_mapping(node, deep)


_TextLoader.yaml_implicit_resolvers = {}
_TextLoader.add_implicit_resolver(
    "tag:yaml.org,2002:null", re.compile(r"^(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""]
)
_TextLoader.add_implicit_resolver("tag:yaml.org,2002:merge", re.compile("^<<$"), ["<"])


def read_yaml(file: Path) -> dict[str, object]:
    """Read one feed file into plain mappings, lists and texts (and None where nothing was written)."""
    try:
        content = yaml.load(file.read_text(encoding="utf-8-sig"), _TextLoader)
    except OSError as fault:
        raise FeedMisdeclared(
            str(file), _WHOLE_FILE, f"cannot be read: {fault.strerror}"
        ) from fault
    except UnicodeDecodeError as fault:
        wrong = f"is not UTF-8: byte {fault.start} is wrong"
        raise FeedMisdeclared(str(file), _WHOLE_FILE, wrong) from fault
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        location = f"line {mark.line + 1}" if mark else _WHOLE_FILE
        wrong = f"{fault.problem or fault.context}"
        if not isinstance(fault, _DuplicateKey):
            wrong = f"is not YAML: {wrong} ({_UNQUOTED})"
        raise FeedMisdeclared(str(file), location, wrong) from fault
    except (yaml.YAMLError, RecursionError, ValueError) as fault:
        wrong = str(fault).splitlines()[0]
        raise FeedMisdeclared(str(file), _WHOLE_FILE, f"is not YAML: {wrong}") from fault
    if content is None:
        raise FeedMisdeclared(str(file), _WHOLE_FILE, "is empty; a feed needs format and landing")
    if not isinstance(content, dict):
        kind = "list" if isinstance(content, list) else "text"
        wrong = f"is a {kind}, not a mapping such as 'format: …'"
        raise FeedMisdeclared(str(file), _WHOLE_FILE, wrong)
    return content


# Where each key of a feed file stands, so that a fault names line and column.


class LineColumn(NamedTuple):
    """Where something stands in a file; both numbers are counted from 1."""

    line: int
    column: int


FIRST = LineColumn(1, 1)

Locations: TypeAlias = Mapping[str, LineColumn]
"""Where each key stands, by the keys that lead to it, with dots between them: ``tables.orders.key``."""


def locations_in(file: Path) -> Locations:
    """Where all keys stand, and of the items of lists, of a file that is YAML."""
    root = yaml.compose(file.read_text(encoding="utf-8-sig"), yaml.SafeLoader)
    return {} if root is None else dict(_below(root, "", set()))


def location_of(locations: Locations, key: str) -> LineColumn | None:
    """Where the key stands; of one that is missing, where the nearest key around it does. None where none does."""
    while key:
        if key in locations:
            return locations[key]
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
            yield name, _location(key)
            yield from _below(value, name, inside)
    elif isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            name = f"{before}{number}"
            yield name, _location(item)
            yield from _below(item, name, inside)


def _location(node: yaml.Node) -> LineColumn:
    return LineColumn(node.start_mark.line + 1, node.start_mark.column + 1)
