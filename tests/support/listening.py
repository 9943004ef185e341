"""On which addresses processes of this machine wait for others to call: as Linux itself has it in ``/proc``."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

LISTENS = "0A"


def of_session(session: int) -> dict[int, set[str]]:
    """The addresses on which processes of a session listen, by port."""
    found: dict[int, set[str]] = {}
    sockets = {socket for pid in _processes() for socket in _sockets(pid, session)}
    for address, port, socket in _listening():
        if socket in sockets:
            found.setdefault(port, set()).add(address)
    return found


def session_at(port: int) -> int:
    """The session of the process that listens on this port."""
    sockets = {socket for _, at, socket in _listening() if at == port}
    (found,) = {os.getsid(pid) for pid in _processes() if sockets.intersection(_sockets(pid, None))}
    return found


def are_loopback(addresses: set[str]) -> bool:
    """Whether nobody on another machine can call any of them."""
    return all(ipaddress.ip_address(address).is_loopback for address in addresses)


def _listening() -> Iterator[tuple[str, int, str]]:
    """Address, port and inode of each socket that waits for callers."""
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            _, local, _, state, *rest = line.split()
            if state == LISTENS:
                address, _, port = local.partition(":")
                yield _address(address), int(port, 16), rest[5]


def _address(written: str) -> str:
    """Words of four bytes each, in this machine's order."""
    words = [bytes.fromhex(written[at : at + 8])[::-1] for at in range(0, len(written), 8)]
    found = ipaddress.ip_address(b"".join(words))
    mapped = getattr(found, "ipv4_mapped", None)
    return str(mapped or found)


def _processes() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]


def _sockets(pid: int, session: int | None) -> set[str]:
    """The inodes of the sockets that a process has open, if it is of this session; one may end meanwhile."""
    with suppress(OSError):
        if session is None or os.getsid(pid) == session:
            opened = [_target(entry) for entry in Path("/proc", str(pid), "fd").iterdir()]
            return {name[8:-1] for name in opened if name.startswith("socket:[")}
    return set()


def _target(entry: Path) -> str:
    with suppress(OSError):
        return str(entry.readlink())
    return ""
