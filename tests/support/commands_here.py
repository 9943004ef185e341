"""A command of Weir in this process: what it prints goes where the test's own output goes."""

from __future__ import annotations

from orchestration.cli import main


def weir(*arguments: str) -> int:
    """Run a command; returns its exit code."""
    try:
        main.main([*arguments])
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0
