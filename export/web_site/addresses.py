"""Where others find this machine: its address in the network, a QR code of it, a certificate for it."""

import contextlib
import ipaddress
import pathlib
import shutil
import socket
import subprocess
import tempfile

from hsvit_runtime.errors import InputError, MissingPackageError


def reachable(host):
    """The address to open: `host`, or where this listens on all addresses the one that leads outside."""
    if host not in ("0.0.0.0", "::", ""):
        return host
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # of no host, RFC 5737; a datagram socket sends nothing here
        except OSError:
            return "127.0.0.1"
        return probe.getsockname()[0]


def is_this_machine(host):
    """Whether only this machine reaches the address: browsers trust it without https."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def qr_code(address):
    """The address as a QR code for a terminal, a str of lines."""
    import io

    import segno

    stream = io.StringIO()
    segno.make(address, error="l", micro=False).terminal(stream, compact=True)
    return stream.getvalue()


@contextlib.contextmanager
def certificate(host):
    """A certificate for an address, signed by itself, as long as the context lasts.

    Args:
        host: str, an IP address or a name.

    Yields:
        (path of the certificate, path of its key).

    Raises:
        InputError: openssl is not installed or does not take the address.
    """
    if shutil.which("openssl") is None:
        raise MissingPackageError("--https needs the program openssl; on Debian: apt-get install openssl")
    try:
        name = f"IP:{ipaddress.ip_address(host)}"
    except ValueError:
        name = f"DNS:{host}"
    with tempfile.TemporaryDirectory() as folder:
        paths = tuple(pathlib.Path(folder, name) for name in ("certificate.pem", "key.pem"))
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
        command += [
            "-nodes",
            "-days",
            "30",
            "-subj",
            "/CN=hsvit benchmark",
            "-addext",
            f"subjectAltName={name}",
        ]
        command += ["-out", str(paths[0]), "-keyout", str(paths[1])]
        made = subprocess.run(command, capture_output=True, text=True)
        if made.returncode:
            raise InputError(f"openssl makes no certificate for host={host!r}: {made.stderr.strip()[-200:]}")
        yield paths
