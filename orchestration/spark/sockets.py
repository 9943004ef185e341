"""The folder of the sockets by which Java and the Python workers of one machine talk.

Put here where such sockets are. Not here: that there are any, which is a setting (``settings``).
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from functools import cache

SETTING = "spark.python.unix.domain.socket.dir"

SHORT = "/tmp"
"""A folder of every machine whose name leaves room for a socket's."""

LONGEST = 104 - 1 - len("/weir-12345678/.12345678-1234-1234-1234-123456789012.sock")
"""How long the name of the folder around it may be: macOS takes 104 bytes for a socket's name, its end included."""


@cache
def socket_folder() -> str:
    """A folder that this user alone may enter, for whoever reaches a socket may speak; it goes as the process ends.

    A process that is killed leaves it behind, empty but for a socket.
    """
    around = tempfile.gettempdir()
    if len(os.fsencode(around)) > LONGEST:
        around = SHORT
    folder, owner = tempfile.mkdtemp(prefix="weir-", dir=around), os.getpid()

    def remove() -> None:
        # A process that was forked off ends, too, and before this one.
        if os.getpid() == owner:
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder
