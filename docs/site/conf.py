"""How Sphinx makes the site of the pages in this folder: ``make docs``.

The pages are plain Markdown that also reads well where it lies, so that everything that only the site needs is here:
its navigation (``navigation.yaml`` beside this file), and what becomes of links that leave the pages.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import yaml
from sphinx.application import Sphinx

ROOT: Final = Path(__file__).resolve().parents[2]
PAGES: Final = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs")
"""Everything at the root that has pages: nothing else is looked through."""

project = "Weir"
author = "Weir's authors"
html_title = "Weir"
html_theme = "furo"
html_theme_options = {"navigation_with_keys": True}
html_static_path = ["static"]
html_css_files = ["wide.css"]
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
html_use_index = False

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "README"
include_patterns = [name if name.endswith(".md") else f"{name}/**" for name in PAGES]
exclude_patterns = [path.name for path in ROOT.iterdir() if path.name not in PAGES]

# Headings have the anchors that GitHub gives them, so that one link serves both.
myst_heading_anchors = 4
# A block is code of its language where it can be read as such: what a command printed need not be.
suppress_warnings = ["misc.highlighting_failure"]
pygments_style = "tango"
pygments_dark_style = "monokai"

_LINK: Final = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s#]+)\)")


def navigation() -> dict[str, list[str]]:
    """The pages of each section, by their paths from the root."""
    written: dict[str, list[str]] = yaml.safe_load(
        Path(__file__).with_name("navigation.yaml").read_text(encoding="utf-8")
    )
    return written


def as_toctrees(sections: dict[str, list[str]]) -> str:
    """The navigation as Sphinx reads it."""
    return "".join(
        f"\n\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n" + "\n".join(pages) + "\n```\n"
        for title, pages in sections.items()
    )


def without_links_to_folders(text: str, folder: Path) -> str:
    """The page, with the words alone where a link leads to a folder of the project: the site has none of them."""

    def kept(link: re.Match[str]) -> str:
        return link[1] if (folder / link[2]).is_dir() else link[0]

    return _LINK.sub(kept, text)


def prepare(_app: Sphinx, name: str, source: list[str]) -> None:
    """Change one page for the site."""
    text = without_links_to_folders(source[0], (ROOT / name).parent)
    source[0] = text + as_toctrees(navigation()) if name == root_doc else text


def add_the_first_page(app: Sphinx, fault: Exception | None) -> None:
    """Let the site begin at ``index.html`` as well: its first page bears the name of README.md."""
    if fault is None:
        first = Path(app.outdir) / "README.html"
        (Path(app.outdir) / "index.html").write_bytes(first.read_bytes())


def setup(app: Sphinx) -> None:
    """Tell Sphinx what to call."""
    app.connect("source-read", prepare)
    app.connect("build-finished", add_the_first_page)
