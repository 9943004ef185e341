"""Which pages are made from the code, and writing them: ``make docs``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from docs.site.reference.checks import checks
from docs.site.reference.commands import commands
from docs.site.reference.feed_keys import feed_keys
from docs.site.reference.numbers import numbers
from docs.site.reference.tables import tables

FOLDER: Final = Path(__file__).resolve().parents[2] / "reference"
PAGES: Final[Mapping[str, Callable[[], str]]] = {
    "feed_keys.md": feed_keys,
    "commands.md": commands,
    "tables.md": tables,
    "checks.md": checks,
    "numbers.md": numbers,
}


def write(folder: Path = FOLDER) -> list[str]:
    """Make every page, and name those that are not as they were."""
    folder.mkdir(exist_ok=True)
    changed = []
    for name, made in PAGES.items():
        file, text = folder / name, made()
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
            changed.append(name)
    return changed


if __name__ == "__main__":
    print("changed:", ", ".join(write()) or "nothing", file=sys.stderr)
