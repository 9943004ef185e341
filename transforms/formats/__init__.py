"""One module per source format: a module here is a format there.

A name that begins with an underscore belongs to a family of formats; ``spec`` is what a format has to say.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules

from transforms.formats.spec import SourceFormat

FORMATS: Mapping[str, SourceFormat] = {
    name: import_module(f"{__name__}.{name}").FORMAT
    for name in sorted(module.name for module in iter_modules(__path__))
    if not name.startswith("_") and name != "spec"
}
