"""Transactions' ids, which clients write in several ways.

Put here how an id is read. Not here: what a transaction is in either form of the stream (``formats``).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from transforms.families.yugabyte import octets
from transforms.json_values import as_text

_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def transaction_id(field: Any) -> str | None:
    """A transaction's id, as a uuid where it is one; None where there is none.

    The field is bytes, so that JSON has it as base64: of a uuid's text (the CDC SDK) or of its 16 bytes (xCluster). A
    client may have written the uuid itself, too. All else is taken as it stands.
    """
    written = as_text(field)
    return _of_text(written) if written else None


@lru_cache(maxsize=1024)
def _of_text(written: str) -> str:
    if _UUID.fullmatch(written):
        return written.lower()
    data = octets.decoded(written)
    if data is None:
        return written
    if len(data) == 16:
        return octets.uuid(data)
    spelled = data.decode("ascii", "replace")
    return spelled.lower() if _UUID.fullmatch(spelled) else written
