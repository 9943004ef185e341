"""JSON as Jackson writes it, and so Spark: without blanks, and with as few escapes as JSON allows.

Not here: reading JSON (``json_values``).
"""

from __future__ import annotations

import re
from typing import Any, Final

_ESCAPED: Final = re.compile(r'["\\\x00-\x1f]')
_ESCAPES: Final = {
    **{sign: f"\\u{sign:04X}" for sign in range(0x20)},
    **{ord(sign): f"\\{letter}" for sign, letter in zip('"\\\b\t\n\f\r', '"\\btnfr', strict=True)},
}


def quoted(text: str) -> str:
    """A text in quotes."""
    return f'"{text.translate(_ESCAPES) if _ESCAPED.search(text) else text}"'


def written(value: Any) -> str:
    """Any document that ``json_values`` has read; its numbers keep every digit and their spelling."""
    if value is None:
        return "null"
    if type(value) is str:
        return quoted(value)
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is list:
        return f"[{','.join(map(written, value))}]"
    if type(value) is dict:
        return f"{{{','.join(f'{quoted(name)}:{written(one)}' for name, one in value.items())}}}"
    return str(value)
