"""The source formats: each module here is a format under the module's own name, and nothing else is here.

Its ``FORMAT`` is what ``SourceFormat`` asks for; CONTRIBUTING.md has a tutorial. The docstring of a format's module is
the format's documentation: which tool writes it, what one record means, and the vendor's page. Formats do not import
each other.
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
