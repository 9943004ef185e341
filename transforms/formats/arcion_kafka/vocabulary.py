"""The words that Arcion's messages have for operations, and for nothing.

Put here how Arcion writes such a word. Not here: what an operation does (the format itself).
"""

from __future__ import annotations

from typing import Final

from transforms.families.connect.vocabulary import Vocabulary

VOCABULARY: Final = Vocabulary(
    operations={
        "r": "read",
        "c": "insert",
        "u": "update",
        "d": "delete",
        "read": "read",
        "insert": "insert",
        "create": "insert",
        "update": "update",
        "delete": "delete",
        "replace": "replace",
    },
    nothing=("null", "default", "{}"),
)
