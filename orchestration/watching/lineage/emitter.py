"""Events on their way to the receiver: sent beside the run, which waits for none of them.

A receiver that does not take an event gets no more from this process, and the run says so once. Put here how events are
sent. Not here: what they say (``lineage_events``).
"""

from __future__ import annotations

import atexit
import queue
import threading
from functools import cache
from typing import Any

PATIENCE = 2.0
"""At the end of the process, events that are on their way have so many seconds."""


class Emitter:
    """A thread that sends what it is given, in order, until the receiver fails."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._events: queue.Queue[Any] = queue.Queue()
        self._fault: str | None = None
        self._is_down = False
        threading.Thread(target=self._send_all, daemon=True, name="openlineage").start()

    def emit(self, *events: Any) -> None:
        """Send these, some time."""
        if not self._is_down:
            for event in events:
                self._events.put(event)

    def fault_to_tell(self) -> str | None:
        """Why the receiver failed, the first time that somebody asks after it did."""
        fault, self._fault = self._fault, None
        return fault

    def flush(self, seconds: float = PATIENCE) -> bool:
        """Wait until all is sent, at most so long; whether it was."""
        done = threading.Event()
        self._events.put(done)
        return done.wait(0 if self._is_down else seconds)

    def _send_all(self) -> None:
        while True:
            event = self._events.get()
            if isinstance(event, threading.Event):
                event.set()
            elif not self._is_down:
                try:
                    self._client.emit(event)
                except Exception as fault:  # whatever it is, the run has nothing to do with it
                    self._is_down = True
                    self._fault = f"{type(fault).__name__}"


@cache
def emitter() -> Emitter:
    """The emitter of this process, to the receiver that the environment names."""
    from openlineage.client import OpenLineageClient

    made = Emitter(OpenLineageClient())
    atexit.register(made.flush)
    return made
