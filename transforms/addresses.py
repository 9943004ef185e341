"""Addresses: what is wrong with one, and the credentials in it, which nobody who shows one must show."""

from __future__ import annotations

import re
from typing import Final

# What follows the scheme is all up to the next space: a secret may have quotes, slashes and the like in it.
_ADDRESS: Final = re.compile(r"((?:k8s://)?[A-Za-z][A-Za-z0-9+.-]*:/+)(\S*)")
_SECRET_OPTION: Final = re.compile(
    r"([?&;](?:[\w.-]*(?:pass|pwd|secret|token|signature|credential|key)[\w.-]*|sig)=)[^&\s]+",
    re.IGNORECASE,
)
_STORES: Final = ("s3://", "s3a://", "s3n://")
_FILE: Final = "file:"


def has_credentials(address: str) -> bool:
    """Whether there is a user, a password, or an option that holds a secret, in an address."""
    return without_credentials(address) != address


def without_credentials(text: str) -> str:
    """The text, with the user and password of each address in it left out, and ``…`` for options that hold a secret.

    Where they end is not certain when a secret has ``@`` or ``/`` in it: then more than they are is left out.
    """
    return _ADDRESS.sub(_shown, text)


def _shown(found: re.Match[str]) -> str:
    scheme, rest = found[1], found[2]
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    # With a slash in it a password looks like the number of a port and a path.
    is_perhaps = ":" in authority and not scheme.lower().startswith(_FILE)
    if "@" in authority or ("@" in rest and is_perhaps):
        rest = rest[rest.rindex("@") + 1 :]
    elif re.search(r":.", authority) and scheme.lower().endswith(_STORES):
        # A bucket has no port, and where the secret ends nothing says. A colon at the end is the sentence's.
        rest = "…"
    return scheme + _SECRET_OPTION.sub(r"\1…", rest)


def is_address(text: str) -> bool:
    """Whether a text is an address with a scheme, and no path of a folder."""
    return _SCHEME.match(text) is not None


def neither(text: str, what: str) -> str:
    """What is wrong with an address that is none of S3's, and what was meant; ``what``: how one of S3's is written."""
    fault = f"{text!r} is neither {what} nor a folder"
    found = _SCHEME.match(text)
    if found is None:
        return fault
    scheme, rest = found[1].lower(), text[found.end() :].lstrip("/")
    if scheme == "file":
        return f"{fault}; did you mean /{rest}"
    if scheme.startswith("kafka"):
        return f"{fault}; did you mean kafka://{rest}"
    if scheme.startswith("s") and len(scheme) <= _LONGEST_OF_S3:
        return f"{fault}; did you mean s3://{rest}"
    return f"{fault}: Weir reads folders, and stores that speak S3 (another than Amazon's by AWS_ENDPOINT_URL)"


_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")
_LONGEST_OF_S3: Final = 3
"""S3, s3a, s3n and what is nearly one of them."""
