"""``weir-webserver``: Dagster's web server with its own options, behind the guard, and Weir's documents beside it."""

from __future__ import annotations

import os
from collections.abc import Callable

from dagster_webserver import cli
from starlette.applications import Starlette

from orchestration.resources import Deployment
from orchestration.web import documents
from orchestration.web.guard import HOSTS, Guard, hosts_in

_MAKER = "create_app_from_workspace_process_context"
_unguarded: Callable[..., Starlette] = getattr(cli, _MAKER)


def guarded(workspace: object, path_prefix: str, *rest: object, **kwargs: object) -> Starlette:
    """Dagster's application, which its command asks for, with Weir's documents, and the guard in front of both."""
    app = _unguarded(workspace, path_prefix, *rest, **kwargs)
    # Before Dagster's own: what no other path is, is the page of its script.
    app.router.routes[:0] = documents.routes(Deployment.from_environment(os.environ))
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
