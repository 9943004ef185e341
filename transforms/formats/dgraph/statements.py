"""Statements: what one record says, a triple that is set or deleted, or a drop, with its namespace and commit.

Vendor: dgraph-io/dgraph v25.3.8, worker/cdc.go (CDCEvent, MutationEvent, DropEvent).
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from math import isinf
from typing import Any, Final, NamedTuple

from transforms.families.kafka_records import KafkaMessage
from transforms.families.whole_numbers import whole
from transforms.fault import Fault, shown
from transforms.json_values import as_text

MUTATION, DROP, EXPORT = "mutation", "drop", "export"

OPERATIONS: Final = {
    (MUTATION, "set"): "set",
    (MUTATION, "ovr"): "set",
    (MUTATION, "del"): "del",
    (DROP, "all"): "drop_all",
    (DROP, "data"): "drop_data",
    # The code says predicate, the documentation attribute.
    (DROP, "predicate"): "drop_predicate",
    (DROP, "attribute"): "drop_predicate",
    (DROP, "type"): "drop_type",
    (EXPORT, "set"): "read",
}
"""What Dgraph did, by the two words that it says it with."""

STAR: Final = "_STAR_ALL"
"""The value of a delete of all values; its type is ``default``."""

LOST: Final = "{}"
LOSSY: Final = frozenset({"geo", "bigfloat"})
"""The types of which Dgraph's stream has no values: it writes them as ``LOST``."""

TYPES: Final = (
    *("default", "binary", "int", "float", "bool", "datetime", "geo", "uid", "string"),
    *("password", "bigfloat", "float32vector"),
)
"""Dgraph's names of its types (types/scalar_types.go)."""


class Statement(NamedTuple):
    """What a record says, as far as it can be read.

    ``namespace``: a decimal number; 0 where the record has no key. ``has_key``: whether the record has a key, or is an
    export's; without one the namespace is unknown.
    ``commit_ts``: the timestamp of the commit, or of the export; None where the record does not give it.
    ``kind`` and ``op``: the two words for what was done, in lower case: ``mutation`` and ``set``, ``drop`` and ``all``.
    ``uid``, ``attr``, ``value``, ``value_type``: node, predicate and value, in canonical text where they have no fault;
    of a drop ``attr`` alone. ``has_facets``: of an exported triple, that it had some.
    ``sent_at``: when Kafka got the record, in microseconds since 1970 (UTC).
    """

    namespace: str = "0"
    commit_ts: int | None = None
    kind: str | None = None
    op: str | None = None
    uid: str | None = None
    attr: str | None = None
    value: str | None = None
    value_type: str | None = None
    has_key: bool = False
    has_facets: bool = False
    sent_at: int | None = None
    fault: Fault | None = None

    @property
    def is_star(self) -> bool:
        """Whether it is a delete of all values."""
        return self.value == STAR and self.op == "del" and self.value_type == "default"

    @property
    def is_lost(self) -> bool:
        """Whether the stream has lost its value."""
        return self.value == LOST and self.value_type in LOSSY


# Floats and vectors: one text for one number, whoever wrote it. The stream and an export spell some numbers in
# different ways (1000000 and 1E+06), and a delete of one value removes
# Vendor: dgraph-io/dgraph v25.3.8, types/conversion.go (floats: Go's format G with the shortest digits), types/value.go
# (FloatArrayAsString: vectors, format f); Go's encoding/json for those of the stream.


_FLOAT: Final = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,4}))?")
_PLAIN: Final = r"-?[0-9]++(?:\.[0-9]++)?+"
_PLAIN_VECTOR: Final = re.compile(rf"\[\s*+(?:{_PLAIN}\s*+(?:,\s*+{_PLAIN}\s*+)*+)?+\]", re.ASCII)
_BLANKS: Final = re.compile(r"\s+", re.ASCII)

_SMALLEST, _BIGGEST = 1e-46, 3.5e38
"""No vector holds numbers beyond: they have 32 bits."""


def float_text(text: str) -> str | None:
    """A float as Dgraph exports it: 1, 0.5, 1.234567891E+06, 1E+21; None for what is no double."""
    parts = _FLOAT.fullmatch(text)
    if parts is None or isinf(float(text)):
        return None
    sign, digits, exponent = _read(parts)
    if not digits:
        return sign + "0"
    if -4 <= exponent < 6:
        return sign + _plain(digits, exponent)
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}E{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def vector_text(text: str) -> str | None:
    """A vector as Dgraph exports it, without blanks and exponents: [0.1,0.25,-3]; None for what is none."""
    if _PLAIN_VECTOR.fullmatch(text) is not None:
        return _BLANKS.sub("", text)
    inside = text.strip()
    if len(inside) < 2 or inside[0] != "[" or inside[-1] != "]":
        return None
    numbers = []
    for part in inside[1:-1].split(","):
        parts = _FLOAT.fullmatch(part.strip())
        if parts is None:
            return None
        sign, digits, exponent = _read(parts)
        if digits and not _SMALLEST < abs(float(part)) < _BIGGEST:
            return None
        numbers.append(sign + (_plain(digits, exponent) if digits else "0"))
    return f"[{','.join(numbers)}]"


def _read(parts: re.Match[str]) -> tuple[str, str, int]:
    """The sign, the digits without zeros at either end, and the power of ten of the first of them."""
    sign, whole, fraction, power = parts.groups("")
    written = whole + fraction
    digits = written.lstrip("0")
    exponent = len(whole) - (len(written) - len(digits)) + int(power or 0) - 1
    return sign, digits.rstrip("0"), exponent


def _plain(digits: str, exponent: int) -> str:
    if exponent < 0:
        return f"0.{'0' * (-exponent - 1)}{digits}"
    whole, fraction = digits[: exponent + 1].ljust(exponent + 1, "0"), digits[exponent + 1 :]
    return f"{whole}.{fraction}" if fraction else whole


# Nodes and values as gold has them: exact text, one spelling for one value.

_HEXADECIMAL: Final = re.compile(r"0[xX]([0-9a-fA-F]{1,16})")
"""How Dgraph writes an unsigned number outside of its stream."""

_UNSIGNED: Final = re.compile(r"[0-9]{1,20}")
_INT: Final = re.compile(r"-?[0-9]{1,19}")
_MOMENT: Final = re.compile(
    r"[0-9]{4,}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
    r"T(?:[01][0-9]|2[0-3])(?::[0-5][0-9]){2}(?:\.[0-9]+)?(?:Z|[+-][0-9]{2}:[0-5][0-9])"
)


def signed(text: str) -> int | None:
    """A number of 64 bits with a sign, None for all else."""
    if _INT.fullmatch(text) is None:
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


def unsigned(text: str) -> str | None:
    """An unsigned number of 64 bits in decimal, written so or as 0x1f; None for all else."""
    if _UNSIGNED.fullmatch(text) is None:
        return decimal_of_hex(text)
    number = int(text)
    return str(number) if number < 2**64 else None


def decimal_of_hex(text: str | None) -> str | None:
    """A number that is written as 0x1f, in decimal; None for all else."""
    digits = None if text is None else _HEXADECIMAL.fullmatch(text)
    return None if digits is None else str(int(digits[1], 16))


def checked(
    *, uid: str | None, attr: str | None, value: str | None, value_type: str | None
) -> tuple[str | None, str | None, Fault | None]:
    """The node and the value of a triple, canonical, and why they cannot be: then they are as they were written."""
    if uid is None or attr is None or value is None or value_type is None:
        parts = {"uid": uid, "attr": attr, "value": value, "value_type": value_type}
        missing = [f"event.{name}" for name, given in parts.items() if given is None]
        return uid, value, Fault("missing_field", f"the event lacks {', '.join(missing)}")
    node = unsigned(uid)
    if node is None:
        detail = f"uid is {shown(uid)}, which is no number of 64 bits"
        return uid, value, Fault("value_does_not_fit", detail)
    if value_type not in _READ:
        known = ", ".join(sorted(TYPES))
        detail = f"value_type {shown(value_type)} is not known; known: {known}"
        return node, value, Fault("unknown_value_type", detail)
    read = _READ[value_type]
    if read is None:
        return node, value, None
    text = read(value)
    if text is None:
        detail = f"{shown(attr)} is {shown(value)}, which is no {value_type}"
        return node, value, Fault("value_does_not_fit", detail)
    return node, text, None


def _int(text: str) -> str | None:
    number = signed(text)
    return None if number is None else str(number)


_READ: Final[Mapping[str, Callable[[str], str | None] | None]] = {
    **dict.fromkeys(TYPES),
    "int": _int,
    "float": float_text,
    "bool": lambda text: text if text in ("true", "false") else None,
    "datetime": lambda text: text if _MOMENT.fullmatch(text) else None,
    "uid": unsigned,
    "float32vector": vector_text,
}
"""How a value of each type becomes canonical, None for what it does not hold; the others hold any text."""


# The namespace in a record's key: eight bytes, which dumps of a topic spell in several ways.
# Vendor: dgraph-io/dgraph v25.3.8, worker/sink_handler.go.


_BASE64_OF_8_BYTES: Final = re.compile(r"[A-Za-z0-9+/]{11}=")


@lru_cache(maxsize=4_096)
def namespace(key: str | None, key_bytes: bytes | None, *, of_topic: bool) -> str | None:
    """The key as a number: eight bytes, or what a dump makes of them: digits, base64, or each byte as a character.

    Eight bytes that are all digits are taken for digits: as bytes they would be a namespace of nineteen figures.
    """
    if key is not None and _UNSIGNED.fullmatch(key):
        return unsigned(key)
    if of_topic:
        if key_bytes is None or len(key_bytes) != 8:
            return None
        return str(int.from_bytes(key_bytes, "big"))
    if key is None:
        return None
    if _BASE64_OF_8_BYTES.fullmatch(key):
        return str(int.from_bytes(base64.b64decode(key), "big"))
    if len(key) == 8 and max(key) <= "\xff":
        return str(int.from_bytes(key.encode("latin-1"), "big"))
    return None


def unknown_namespace(key: str | None, key_bytes: bytes | None) -> Fault:
    """The fault of a record whose key is no namespace."""
    written = key_bytes.hex().upper() if key is None and key_bytes is not None else key
    return Fault(
        "unknown_namespace",
        f"the key is {shown(written)}; known: eight bytes, as they are or in base64, or a decimal number",
    )


# An event is the value of a Kafka record, which has the namespace as its key, or ``{"key": …, "value": {event}}`` as
# the file sink writes it.
# Vendor: dgraph-io/dgraph v25.3.8, worker/cdc.go (toCDCEvent), worker/sink_handler.go.


def event_statement(
    document: Mapping[str, Any], message: KafkaMessage, *, of_topic: bool, found: Fault | None
) -> Statement:
    """What a JSON object says as an event; ``found``: why it cannot be taken, where that is known already."""
    line, key = in_line(document)
    meta, what = _object(line, "meta"), _object(line, "event")
    commit, kind, op = meta.get("commit_ts"), _word(line.get("type")), _word(what.get("operation"))
    # A negative one is a fault, and still tells the commit.
    commit_ts = whole(commit)
    key = key if message.key is None else message.key
    key_bytes = message.key_bytes if of_topic else None
    named = namespace(key, key_bytes, of_topic=of_topic)
    has_key = key is not None or key_bytes is not None
    if found is None:
        found = _lacking(commit, kind, op) or _no_timestamp(commit, commit_ts)
    if found is None and has_key and named is None:
        found = unknown_namespace(key, key_bytes)
    uid, value, value_type = None, None, _word(what.get("value_type"))
    attr = as_text(what.get("attr")) or None
    if kind == DROP:
        # The documentation calls the predicate of a drop ``pred``; no such record was ever seen. Mutations call it
        # ``attr``.
        attr = as_text(what.get("pred")) or attr
    else:
        uid, value = as_text(what.get("uid")), as_text(what.get("value"))
        uid, value, fault = checked(uid=uid, attr=attr, value=value, value_type=value_type)
        if found is None and kind == MUTATION:
            found = fault
    return Statement(
        "0" if named is None else named,
        commit_ts,
        kind,
        op,
        uid,
        attr,
        value,
        value_type,
        has_key,
        False,
        message.sent_at,
        found,
    )


def in_line(document: Mapping[str, Any]) -> tuple[Mapping[str, Any], str | None]:
    """The event, and the key beside it, where it stands in a line as the file sink writes them."""
    inner = document.get("value")
    if type(inner) is dict and type(document.get("meta")) is not dict:
        return inner, as_text(document.get("key"))
    return document, None


def _object(parent: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = parent.get(name)
    return part if type(part) is dict else {}


def _word(value: Any) -> str | None:
    text = as_text(value)
    return None if text is None else text.lower()


def _lacking(commit: Any, kind: str | None, op: str | None) -> Fault | None:
    if commit is not None and kind is not None and op is not None:
        return None
    parts = {"meta.commit_ts": commit, "type": kind, "event.operation": op}
    missing = ", ".join(name for name, given in parts.items() if given is None)
    return Fault("missing_field", f"the event lacks {missing}")


def _no_timestamp(commit: Any, commit_ts: int | None) -> Fault | None:
    if commit_ts is not None and commit_ts >= 0:
        return None
    return Fault(
        "unknown_position", f"meta.commit_ts is {shown(as_text(commit))}, which is no timestamp"
    )
