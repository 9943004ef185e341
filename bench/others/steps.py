"""Takes the steps of one tool, as a script of that tool's own Python: ``steps.py TOOL STEP FROM TO STEP FROM TO ...``.

It prints how many seconds the merges among them took. It and the tools' modules import nothing of Weir's besides each
other, for such a Python has the tool and little else.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from time import perf_counter


def main(tool: str, *words: str) -> None:
    """Take the steps (prepare, merge, export) in their order."""
    # Isolated, Python looks nowhere near the script; last, so that no module here stands in for one of the tool's.
    sys.path.append(str(Path(__file__).resolve().parents[2]))
    module = importlib.import_module(f"bench.others.{tool}")
    seconds = 0.0
    for step, source, target in zip(words[::3], words[1::3], words[2::3], strict=True):
        started = perf_counter()
        getattr(module, step)(Path(source), Path(target))
        seconds += perf_counter() - started if step == "merge" else 0.0
    print(json.dumps({"seconds": seconds}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
