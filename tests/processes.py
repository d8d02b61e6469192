"""What processes there are and where they listen, from /proc."""

import contextlib
import http.client
import ipaddress
import os
import pathlib

_LISTEN = "0A"  # the state of a socket in /proc/net/tcp


def descendants(pid):
    """The processes below one."""
    parents = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    below = [pid]
    for parent in below:
        below += [child for child, its in parents.items() if its == parent]
    return below[1:]


def listening(pids):
    """Where processes listen for TCP connections: set of (address, port)."""
    sockets = {}
    for table, size in (("tcp", 4), ("tcp6", 16)):
        for line in pathlib.Path("/proc/net", table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == _LISTEN:
                address, port = fields[1].split(":")
                words = bytes.fromhex(address)  # each of four bytes, the last one first
                packed = b"".join(words[i : i + 4][::-1] for i in range(0, size, 4))
                address = ipaddress.ip_address(packed)
                address = str(getattr(address, "ipv4_mapped", None) or address)
                sockets[f"socket:[{fields[9]}]"] = address, int(port, 16)
    found = set()
    for pid in pids:
        for entry in pathlib.Path(f"/proc/{pid}/fd").glob("*"):
            with contextlib.suppress(OSError):
                found.add(sockets.get(os.readlink(entry)))
    return found - {None}


def running(pids):
    """Those that still run; zombies do not."""
    states = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            states[pid] = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return [pid for pid, state in states.items() if state not in "ZX"]


def status_of_metrics(port):
    """The status of the answer to a request for metrics; None where there is none by HTTP."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    with contextlib.closing(connection), contextlib.suppress(http.client.HTTPException, OSError):
        connection.request("GET", "/metrics")
        return connection.getresponse().status
    return None
