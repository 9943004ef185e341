"""Great Expectations' pages with a style and a table of their own for readers without a network.

Its pages take styles, icons and the tables of the first page from the network. Without it the first page would be
empty, and passed and failed would look the same. It is Great Expectations that imports this module, by its name, when
pages are made (``data_docs``).
"""

from __future__ import annotations

import html
from functools import wraps
from typing import Any, Final

from great_expectations.render.view.view import (
    DefaultJinjaIndexPageView,
    DefaultJinjaPageView,
)

_WITHOUT_NETWORK: Final = """
<script>
if (!window.jQuery) {
  const style = document.createElement("style");
  style.textContent = `
    body { font-family: sans-serif; margin: 1em; }
    table { border-collapse: collapse; } td, th { border: 1px solid #ccc; padding: 0.2em 0.6em; }
    .fa-check-circle::before, .ge-success-icon::before { content: "passed"; color: #287d3c; font-style: normal; }
    .fa-times::before, .ge-failed-icon::before { content: "failed"; color: #c0262d; font-style: normal; }
    .fa-exclamation-triangle::before { content: "warning"; color: #9a6700; font-style: normal; }
    .cooltip .top, .navbar-brand img { display: none; }`;
  document.head.append(style);
  // What the page says to its tables, without the library that would draw them.
  const drawn = (place, options) => {
    const shown = (options.columns || []).filter((one) => one.visible !== false);
    const table = document.createElement("table");
    const head = table.insertRow();
    for (const column of shown) {
      head.appendChild(document.createElement("th")).innerHTML = column.title || column.field;
    }
    for (const row of options.data || []) {
      const line = table.insertRow();
      shown.forEach((column, at) => {
        const cell = line.insertCell();
        cell.innerHTML = row[column.field];
        if (at === shown.length - 1 || column.field === "run_time") {
          const link = document.createElement("a");
          link.href = row._table_row_link_path;
          link.append(...cell.querySelector("a") ? [] : cell.childNodes);
          cell.append(link);
        }
      });
    }
    document.querySelector(place)?.replaceChildren(table);
  };
  window.$ = window.jQuery = (place) => {
    const silent = new Proxy(function () {}, {
      get: (_, name) => (name !== "bootstrapTable" ? () => silent : (options) => {
        if (options && options.data) { drawn(place, options); }
        return silent;
      }),
    });
    return silent;
  };
}
</script>
"""


class PageView(DefaultJinjaPageView):
    """The page of a result or of a suite."""

    # With the mark by which the templates give it their context.
    @wraps(DefaultJinjaPageView.render_content_block)
    def render_content_block(self, context: Any, block: Any, *given: Any, **named: Any) -> Any:
        """A part of the page; what sources wrote (payloads, names, values) stays text there, whatever it looks like."""
        return super().render_content_block(context, _as_text(block), *given, **named)

    def render(self, *given: Any, **named: Any) -> str:
        """The page as HTML."""
        page: str = super().render(*given, **named)  # type: ignore[no-untyped-call]
        return _with_help(page)


class IndexPageView(DefaultJinjaIndexPageView):
    """The first page."""

    @wraps(DefaultJinjaIndexPageView.render_content_block)
    def render_content_block(self, context: Any, block: Any, *given: Any, **named: Any) -> Any:
        """A part of the page, as ``PageView`` has it."""
        return super().render_content_block(context, _as_text(block), *given, **named)

    def render(self, *given: Any, **named: Any) -> str:
        """The page as HTML."""
        page: str = super().render(*given, **named)  # type: ignore[no-untyped-call]
        return _with_help(page)


def _as_text(block: Any) -> Any:
    # Great Expectations writes a plain string into the page as it is; markup of its own it has in other kinds of parts.
    if isinstance(block, str):
        return html.escape(block, quote=False)
    if isinstance(block, list):
        return [_as_text(one) if isinstance(one, str) else one for one in block]
    return block


def _with_help(page: str) -> str:
    # At the end of the head: whether the libraries have come is known there.
    return page.replace("</head>", f"{_WITHOUT_NETWORK}</head>", 1)
