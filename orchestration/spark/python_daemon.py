"""What starts Spark's Python workers: Spark's own daemon, whose idle workers end without a word.

An idle worker whose connection is closed, as all are when Spark ends, tells Java so. By a Unix socket that fails, for
nobody is there, and Spark's daemon would print the error at the user's terminal. Spark starts this module by its name
(``settings``), in a process of its own, on every machine of a cluster.
"""

from __future__ import annotations

import socket
from contextlib import suppress

from pyspark import daemon


def work(sock: socket.socket, authenticated: bool) -> int:
    """One task of a worker, as Spark does it; a connection that is gone is its end, which Java knows of."""
    with suppress(BrokenPipeError):
        return _work(sock, authenticated)
    return 1


_work = daemon.worker

if __name__ == "__main__":
    daemon.worker = work
    daemon.manager()
