"""Markdown as metadata of Dagster's events: the one place where Dagster is given any.

Dagster draws it as it is, images and links of whoever wrote it included. Put here how Markdown reaches Dagster. Not
here: making it of what sources wrote (``transforms/display/markdown``).
"""

from __future__ import annotations

from collections.abc import Iterable

import dagster as dg

from transforms.display.markdown import Markdown, bullets


def as_metadata(shown: Markdown) -> dg.MarkdownMetadataValue:
    """The metadata value of a piece of Markdown."""
    return dg.MetadataValue.md(str(shown))


def as_list(lines: Iterable[object]) -> dg.MarkdownMetadataValue:
    """The metadata value of lines that sources may have written."""
    return as_metadata(bullets(lines) or Markdown("none"))
