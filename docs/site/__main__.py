"""``make docs``: makes the site of the pages, without a network. A link that leads nowhere stops it.

``python -m docs.site FOLDER`` makes it elsewhere than in ``site``.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Final

from sphinx.cmd.build import build_main

ROOT: Final = Path(__file__).resolve().parents[2]


def build(pages: Path, target: Path) -> int:
    """Make the site of a copy of the project, all of it anew; the answer is the exit code, 0 where all is well."""
    with tempfile.TemporaryDirectory() as notes:
        words = ["--fail-on-warning", "--keep-going", "--quiet", "--fresh-env"]
        return build_main(
            [*words, "-c", f"{pages / 'docs' / 'site'}", "-d", notes, f"{pages}", f"{target}"]
        )


def main(arguments: list[str]) -> int:
    """Make the site, and say where it is."""
    target = Path(arguments[0]) if arguments else ROOT / "site"
    code = build(ROOT, target)
    if code == 0:
        print(f"The site is in {target}: open {target / 'index.html'} in a browser.")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
