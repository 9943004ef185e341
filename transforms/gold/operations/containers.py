"""Attribute operations of lists, sets and maps.

Put here what is added to a container or taken away from it. Not here: which type has which operations
(``applied``), and what is computed with two numbers (``numbers``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from transforms.gold.operations.numbers import Operation
from transforms.json_values import as_text, read, written
from transforms.types import judge_of


def of_lists(type_name: str) -> dict[str, Operation]:
    """The operations of an array or a set: elements are added, or taken away wherever they are equal."""
    judge = judge_of(type_name)

    def without(old: str, new: str) -> str | None:
        gone = {_compared(one) for one in read(new) if one is not None}
        return judge(
            written([one for one in read(old) if one is None or _compared(one) not in gone])
        )

    # The judge of a set sorts its elements, and leaves out repeats.
    return {"Add": lambda old, new: judge(written(read(old) + read(new))), "Minus": without}


def _compared(value: object) -> str:
    """By what elements are compared: there is one zero."""
    text = written(value)
    return "0.0" if text == "-0.0" else text


def of_maps(type_name: str, value_type: str, add: Operation | None) -> dict[str, Operation]:
    """The operations of a map: entries are added, replaced, or taken away by their keys.

    Args:
        type_name: The map's type.
        value_type: The type of its values.
        add: How two values under one key are added; None where the newer one counts.
    """
    judge = judge_of(type_name)
    add_values = None if add is None else _sum_of(value_type, add)

    def put(old: str, new: str) -> str | None:
        other = read(new)
        kept = {name: one for name, one in read(old).items() if name not in other}
        return judge(written(kept | other))

    def added(old: str, new: str) -> str | None:
        if add_values is None:
            return put(old, new)
        found: dict[str, Any] = read(old)
        for name, other in read(new).items():
            one = found.get(name)
            if one is not None and other is not None:
                found[name] = add_values(one, other)
            else:
                found[name] = one if other is None else other
        return judge(written(found))

    def without(old: str, new: str) -> str | None:
        gone = read(new)
        return judge(written({name: one for name, one in read(old).items() if name not in gone}))

    return {"Add": added, "ReplaceOrAdd": put, "Minus": without}


def _sum_of(type_name: str, add: Operation) -> Callable[[Any, Any], Any]:
    """How two JSON values of a simple type are added within a map: numbers are summed and texts joined."""
    is_text = type_name == "string"

    def both(one: Any, other: Any) -> Any:
        text = add(as_text(one) or "", as_text(other) or "")
        if text is None:
            # A sum that the type cannot hold: the last one counts.
            return other
        return text if is_text else read(_in_json(text))

    return both


def _in_json(number: str) -> str:
    """A number's canonical text as JSON has it."""
    return f'"{number}"' if number in ("NaN", "Infinity", "-Infinity") else number
