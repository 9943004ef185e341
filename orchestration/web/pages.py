"""``weir-webserver``: Dagster's web server with its own options, behind the guard.

Put here how the guard is put around Dagster's application. Not here: what the guard asks (``guard``), and how pages and
daemon are started together (``dev``).
"""

from __future__ import annotations

import os
from collections.abc import Callable

from dagster_webserver import cli
from starlette.applications import Starlette

from orchestration.web.guard import HOSTS, Guard, hosts_in

_MAKER = "create_app_from_workspace_process_context"
_unguarded: Callable[..., Starlette] = getattr(cli, _MAKER)


def guarded(workspace: object, path_prefix: str, *rest: object, **kwargs: object) -> Starlette:
    """Dagster's application, which its command asks for, with the guard in front of it."""
    app = _unguarded(workspace, path_prefix, *rest, **kwargs)
    hosts = hosts_in(os.environ.get(HOSTS, ""))
    app.add_middleware(Guard, hosts=hosts, path_prefix=path_prefix)
    return app


def main() -> None:
    """Start it, as ``dagster-webserver`` does."""
    # Dagster's command takes no middleware: this is the one place where it makes its application.
    setattr(cli, _MAKER, guarded)
    start: Callable[[], None] = cli.main
    start()


if __name__ == "__main__":
    main()
