"""What to do about a record in quarantine, by the reason why it is there.

Put here the advice for a reason. Not here: what was found in a record (``transforms/fault.py``), and the commands
(``orchestration/cli/quarantine``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

REPAIR: Final = (
    "Write the record out (`weir quarantine export <feed> <id>`), repair it in an editor, and replay the file"
    " (`weir quarantine replay <feed> <file> --reason TEXT`)."
)
GIVE_UP: Final = "If nobody can repair it: `weir quarantine dismiss <feed> <id> --reason TEXT`."
DECLARE: Final = "If the declaration is wrong, repair the feed file and run `weir quarantine replay <feed> <id>`;"

_DAMAGED: Final = (
    "The landing has the object cut short or damaged: land it again whole, Weir reads it beside this one, and this"
    " record can be dismissed. Or repair this record alone."
)
_DECLARED: Final = f"{DECLARE} if the record is wrong, repair the record."

REMEDIES: Final[Mapping[str, str]] = {
    "damaged_record": _DAMAGED,
    "error_response": "The source answered with an error: look for its cause there. There is no event to repair.",
    "missing_key": _DECLARED,
    "operation_does_not_fit": _DECLARED,
    "too_late": "Its history is compacted. `weir rebuild <feed>` takes it in; nothing else has to be decided.",
    "undeclared_end": _DECLARED,
    "unknown_namespace": _DECLARED,
    "unknown_type": _DECLARED,
    "value_does_not_fit": _DECLARED,
    "wrong_column_count": _DECLARED,
}


def remedy(reason: str, feed: str, record: str = "ID") -> str:
    """What to do about a record with this reason, with the names that its commands need."""
    own = REMEDIES.get(reason, "")
    rest = "" if reason == "too_late" else f"{REPAIR} {GIVE_UP}"
    text = " ".join(filter(None, (own, rest)))
    return text.replace("<feed>", feed).replace("<id>", record).replace("<file>", "FILE")
