"""Column masks: what a feed keeps of values that must not be read behind bronze, and the key of hashed ones."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Final, Literal

from transforms.event import Image, Value

MaskKind = Literal["drop", "hash", "null"]
"""What becomes of a column's values: they are absent everywhere, a keyed hash stands for each, or null does."""

DROP: Final = "drop"
HASH: Final = "hash"
NULL: Final = "null"

KINDS: Final[tuple[MaskKind, ...]] = (DROP, HASH, NULL)

SHORTEST_KEY: Final = 16
"""Minimum length of a secret: a shorter one can be found by trying."""

_FINGERPRINT: Final = b"the fingerprint of a key of masks"


class MaskKey:
    """The secret under which values are hashed. It shows itself in no text of its own, and goes into pickles.

    A pickle holds the secret: it is for the processes of one run, and is not to be kept.
    """

    __slots__ = ("_secret",)

    def __init__(self, secret: str) -> None:
        # What a variable of the environment holds need not be UTF-8.
        self._secret = secret.encode("utf-8", "surrogateescape")

    def __repr__(self) -> str:
        """A text without the secret."""
        return "MaskKey(not shown)"

    def __eq__(self, other: object) -> bool:
        """Whether another key gives the same hashes."""
        return isinstance(other, MaskKey) and hmac.compare_digest(self._secret, other._secret)

    def __hash__(self) -> int:
        """Equal for equal keys."""
        return hash(self.fingerprint())

    def is_shorter_than(self, length: int) -> bool:
        """Whether the secret has fewer characters."""
        return len(self._secret.decode("utf-8", "surrogateescape")) < length

    def fingerprint(self) -> str:
        """A text that is the same for the same secret, from which the secret cannot be computed."""
        return hmac.digest(self._secret, _FINGERPRINT, "sha512").hex()

    def hashed(self, value: str | bytes) -> str:
        """HMAC-SHA256 of the value's UTF-8 bytes, as 64 hexadecimal digits: equal values have equal hashes."""
        raw = value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")
        return hmac.digest(self._secret, raw, "sha256").hex()


class Masks:
    """The masks of one table, by column; ``earlier``: names that its columns had, each with that of today.

    A name that differs from a masked column's only in case is taken for it: a source's other spelling is no way out.
    """

    __slots__ = ("_key", "_kinds")

    def __init__(
        self, kinds: Mapping[str, MaskKind], earlier: Mapping[str, str], key: MaskKey | None
    ) -> None:
        of_today = {name.lower(): kind for name, kind in kinds.items()}
        of_earlier = {
            old.lower(): of_today[name.lower()]
            for old, name in earlier.items()
            if name.lower() in of_today
        }
        self._kinds = of_earlier | of_today
        self._key = key

    def is_masked(self, name: str) -> bool:
        """Whether a column of this name is masked in any way."""
        return name.lower() in self._kinds

    def masked(self, image: Image) -> dict[str, Value]:
        """The image as it goes on: a value that is null stays null under every mask but ``drop``."""
        found: dict[str, Value] = {}
        for name, value in image.items():
            kind = self._kinds.get(name.lower())
            if kind is None:
                found[name] = value
            elif kind == NULL:
                found[name] = None
            elif kind == HASH:
                assert self._key is not None  # no feed with a hash is loaded without one
                found[name] = None if value is None else self._key.hashed(value)
        return found
