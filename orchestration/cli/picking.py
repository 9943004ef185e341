"""What a person means by the beginning of an id, as commands list them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from transforms.errors import DecisionRefused
from transforms.feed.feed import Feed

One = TypeVar("One")


def picked(feed: Feed, found: Mapping[str, One], text: str, called: str, command: str) -> One:
    """The one whose id begins so; ``called`` is what such a one is called, ``command`` the one that lists them.

    Raises:
        DecisionRefused: there is none, or more than one.
    """
    alike = [one for id, one in found.items() if id.startswith(text)]
    if len(alike) != 1:
        many = f"more than one {called} has" if alike else f"no {called} has"
        raise DecisionRefused(
            feed.name,
            f"{many} an id that begins with {text!r}; `weir {command} {feed.name}` lists them",
        )
    return alike[0]
