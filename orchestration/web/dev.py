"""What ``weir ui`` starts: ``dagster dev``, whose web server is the guarded one, and whose daemon is Weir's."""

from __future__ import annotations

from collections.abc import Sequence
from subprocess import Popen
from typing import Any

from dagster._cli import dev
from dagster_shared.ipc import open_ipc_subprocess

from orchestration.web.process_group import end_with_parent

MODULES = {
    "dagster_webserver": "orchestration.web.pages",
    "dagster._daemon": "orchestration.automation.daemon",
}
"""What ``dagster dev`` starts as ``python -m ...``, and what is started in its place."""

_OPENER = "open_ipc_subprocess"


def opened_guarded(parts: Sequence[str], **kwargs: Any) -> Popen[Any]:
    """Start one of the two processes of ``dagster dev``: Weir's daemon, or the guarded pages, instead of its own.

    Raises:
        RuntimeError: it is neither, so that this Dagster starts its pages otherwise, and they would have no guard.
    """
    python, option, module, *rest = parts
    if option != "-m" or module not in MODULES:
        raise RuntimeError(f"dagster dev starts {parts[:3]}, which has no place behind the guard")
    return open_ipc_subprocess([python, "-P", option, MODULES[module], *rest], **kwargs)


def main() -> None:
    """Start it, with the options of ``dagster dev``, for as long as the process lives that has started this one."""
    assert hasattr(dev, _OPENER), (
        "this Dagster starts its pages otherwise, and they would have no guard"
    )
    setattr(dev, _OPENER, opened_guarded)
    end_with_parent()
    dev.dev_command(auto_envvar_prefix="DAGSTER_CLI_DEV")


if __name__ == "__main__":
    main()
