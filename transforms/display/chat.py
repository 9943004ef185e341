"""Text for rooms where people chat: Slack, Mattermost and Teams, of which each reads a Markdown of its own.

None of it mentions anybody, is a link, or leaves its block; what is changed for that is changed where it can be seen.
Put here what is true of such rooms. Not here: sending a message to one (``orchestration/watching/alerts``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from transforms.display.plain import one_line

_ADDRESS: Final = re.compile(r"\b([a-z][a-z0-9+.-]*):(?=//)|\b(mailto|tel|javascript|data):", re.I)
_ALL: Final = re.compile(r"@(?=channel|here|all|everyone)", re.I)
# Slack reads <!channel>, <@U123> and <address|text> wherever they stand: https://docs.slack.dev/messaging/formatting-message-text
_ENTITIES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def said(text: str) -> str:
    """One line, in which ``http://x`` is ``http[:]//x``, ``@channel`` is ``[@]channel``, and ``<`` is ``&lt;``."""
    text = one_line(text)
    text = _ALL.sub("[@]", text)
    text = _ADDRESS.sub(lambda found: f"{found[1] or found[2]}[:]", text)
    text = text.replace("](", "] (").replace("```", "'''")
    return "".join(_ENTITIES.get(one, one) for one in text)


def block(lines: Iterable[str]) -> str:
    """Lines as they are, in a block of code."""
    return "\n".join(["```", *map(said, lines), "```"])
