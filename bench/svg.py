"""The few shapes of the bench's picture, as SVG that is plain text and suits light pages and dark ones."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

STYLE = """
  svg { --page: #ffffff; --ink: #1f2328; --quiet: #59636e; --rule: #d1d9e0; --own: #0969da; --other: #8c959f;
    --wrong: #cf222e }
  @media (prefers-color-scheme: dark) {
    svg { --page: #0d1117; --ink: #f0f6fc; --quiet: #9198a1; --rule: #3d444d; --own: #4493f8; --other: #656c76;
      --wrong: #f85149 }
  }
  text { font: 13px system-ui, sans-serif; fill: var(--ink) }
  .title { font-size: 18px; font-weight: 600 }
  .line { font-weight: 600 }
  .quiet { font-size: 12px; fill: var(--quiet) }
  .page { fill: var(--page) }
  .wrong { fill: var(--wrong) }
  .own { fill: var(--own) }
  .other { fill: var(--other) }
  .rule { stroke: var(--rule) }
  .curve { stroke-width: 2 }
  .own.curve { stroke: var(--own) }
  .other.curve { stroke: var(--other) }
  .range { stroke: var(--ink); stroke-width: 1.5 }
"""


def page(width: int, height: int, title: str, drawn: Sequence[str]) -> str:
    """The whole file: a page of this size with what is drawn on it."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
            f' width="{width}" height="{height}" role="img">',
            f"<title>{escape(title)}</title>",
            f"<style>{STYLE}</style>",
            f'<rect class="page" width="{width}" height="{height}"/>',
            *drawn,
            "</svg>\n",
        ]
    )


def stroke(kind: str, x: float, y: float, x2: float, y2: float) -> str:
    """A line from one point to another; ``kind`` is a class of the style."""
    return f'<line class="{kind}" x1="{x:.1f}" y1="{y:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def dot(kind: str, x: float, y: float) -> str:
    """A point; ``kind`` is a class of the style."""
    return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'


def written(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    """A text that begins, or ends or has its middle, at a point; ``kind`` is a class of the style."""
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
