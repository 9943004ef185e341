"""The YAML of a feed file, read without YAML's well-known traps.

Every scalar is the text that was written: a column may be called ``on``, ``no`` or ``1`` and needs no quotes. The same
key twice in one mapping is an error. Put here how a file becomes mappings, lists and texts. Not here: which keys there
are (``keys``).
"""

from __future__ import annotations

import re
from pathlib import Path

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
    """Read one feed file into plain mappings, lists and texts (and None where nothing was written).

    Raises:
        FeedMisdeclared: It cannot be read, is not YAML, names a key twice, or is not a mapping.
    """
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
        place = f"line {mark.line + 1}" if mark else _WHOLE_FILE
        wrong = f"{fault.problem or fault.context}"
        if not isinstance(fault, _DuplicateKey):
            wrong = f"is not YAML: {wrong} ({_UNQUOTED})"
        raise FeedMisdeclared(str(file), place, wrong) from fault
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
