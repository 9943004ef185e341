"""The source formats: a module here is a format there, under its own name, and nothing else is here.

Put a module here to add a format (CONTRIBUTING.md has a tutorial); its ``FORMAT`` says what ``source_format`` asks for.
Formats do not know each other. Not here: what several formats share (``families``).
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules

from transforms.source_format import SourceFormat

FORMATS: Mapping[str, SourceFormat] = {
    name: import_module(f"{__name__}.{name}").FORMAT
    for name in sorted(module.name for module in iter_modules(__path__))
}
