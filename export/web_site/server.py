"""Serves a site on this machine, with the headers that threads need, and takes reports.

Only files that `site.json` names are sent: a request's path is looked up among them, and never becomes a path
of this machine.
"""

import hashlib
import html
import http.server
import mimetypes
import pathlib
import re
import socket
import ssl
import sys
import time
import urllib.parse

from export.web_site import collecting
from hsvit_runtime import input_files, json_files
from hsvit_runtime.errors import FileError, InputError, MissingFileError
from hsvit_runtime.json_schemas import TEXT, mapping, record

# Threads: https://web.dev/articles/coop-coep. All the rest limits what a page may do, even one with a fault.
HEADERS = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": "camera=(self), microphone=(), geolocation=()",
    "Cache-Control": "no-cache",
}
_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
}
_FILE = record(sha256=TEXT)
_SITE = record(files={**mapping(_FILE), "required": ["index.html"]})
_REPORTS = "/reports"
_REPORT_TYPE = "application/json"
_PATIENCE_S = 30  # a connection that sends nothing for so long is closed
_LINGER_S = 1  # how long what a refused client still sends is thrown away


class Server(http.server.ThreadingHTTPServer):
    """A server of one site.

    Attributes:
        files: dict from a request's path to (path of the file, its SHA-256).
        policy: str, the page's Content-Security-Policy.
        collector: `collecting.Collector`, or None where no reports are taken.
        scheme: "http" or "https".
        received: function (path, report), called for each report.
    """

    daemon_threads = True

    def __init__(
        self, site, host, port, *, collect=None, certificate=None, received=lambda path, report: None
    ):
        """
        Args:
            site: path of the folder of a site.
            host: str, the address to listen on.
            port: int; 0 for any that is free.
            collect: path of the folder for reports; None to take none.
            certificate: (path of the certificate, path of its key), for https; None for http.
            received: as the attribute.

        Raises:
            InputError: the folder holds no site.
            OSError: the port is taken, or a file cannot be read.
        """
        folder = pathlib.Path(site)
        self.files = _read_files(folder)
        self.policy = _policy(folder / "index.html")
        self.collector = None if collect is None else collecting.Collector(collect)
        self.received = received
        self.scheme = "https" if certificate else "http"
        try:
            super().__init__((host, port), _Handler)
        except OSError as error:
            raise FileError(f"cannot listen on host={host!r}, port={port}: {error.strerror}") from error
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            # Each connection greets in its own thread, so that a silent one holds up no other.
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def shutdown_request(self, request):
        """Closes a connection; at once would take the answer from a refused client that is still sending."""
        try:
            request.shutdown(socket.SHUT_WR)
            end = time.monotonic() + _LINGER_S
            while (left := end - time.monotonic()) > 0:
                request.settimeout(left)
                if not request.recv(65536):
                    break
        except OSError:
            pass  # the client has closed it, or goes on sending
        self.close_request(request)

    def handle_error(self, request, client_address):
        """A browser that closes its connection is no error."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


def _read_files(folder):
    """The files of a site, by the path of a request: (path, SHA-256)."""
    path = folder / "site.json"
    if not path.is_file():
        raise MissingFileError(f"output={str(folder)!r} holds no site.json: --bundle writes a site there")
    content = input_files.read(path)
    site = json_files.parse(content, path)
    json_files.check(site, _SITE, f"{path} is no list of a site's files")
    facts = site["files"]
    found = {f"/{name}": (folder / name, facts[name]["sha256"]) for name in facts}
    outside = [name for name in facts if {"", "..", "."} & set(name.split("/")) or "\\" in name]
    page = found["/index.html"]
    if outside:
        raise InputError(f"{path} names a file outside of its folder: {outside[0]}")
    return {**found, "/": page, "/site.json": (path, hashlib.sha256(content).hexdigest())}


def _policy(page):
    """The Content-Security-Policy that the page names, for scripts of workers, too."""
    found = re.search(r'http-equiv="Content-Security-Policy"\s+content="([^"]+)"', page.read_text("utf-8"))
    if not found:
        raise InputError(f"{page} has no Content-Security-Policy")
    return " ".join(html.unescape(found[1]).split()) + "; frame-ancestors 'none'"


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "hsvit"
    sys_version = ""
    timeout = _PATIENCE_S

    def do_GET(self):
        path = urllib.parse.unquote(self.path.partition("?")[0], errors="replace")
        if path not in self.server.files:
            self._refuse(404, "there is no such file in this site")
            return
        file, sha256 = self.server.files[path]
        if self.headers.get("If-None-Match") == f'"{sha256}"':
            self._send(304, b"", None, sha256)
            return
        kind = _TYPES.get(file.suffix) or mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        try:
            content = file.read_bytes()
        except OSError:
            self._refuse(404, "the file is gone")
            return
        self._send(200, content, kind, sha256)

    do_HEAD = do_GET  # noqa: N815

    def do_POST(self):
        try:
            status, text = self._take_report()
        except InputError as error:
            status, text = 422, str(error)
        self._refuse(status, text) if status >= 400 else self._send(status, text.encode(), "text/plain")

    def _take_report(self):
        """A status, and what to answer: the report's name, or what is wrong."""
        if self.path != _REPORTS or self.server.collector is None:
            return 404, "no reports are taken here"
        if self.headers.get("Origin") != f"{self.server.scheme}://{self.headers.get('Host')}":
            return 403, "reports are taken from this site's page only"
        if self.headers.get_content_type() != _REPORT_TYPE:
            return 415, f"a report is {_REPORT_TYPE}"
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch(r"\d{1,12}", length, re.ASCII):
            return 411, "the length of the report is needed"
        if int(length) > collecting.MOST_BYTES:
            return 413, f"a report may have {collecting.MOST_BYTES} bytes"
        path, report = self.server.collector.receive(self.rfile.read(int(length)))
        self.server.received(path, report)
        return 201, path.name

    def _refuse(self, status, text):
        self.close_connection = True  # what else the request holds is not read
        self._send(status, f"{text}\n".encode(), "text/plain; charset=utf-8")

    def _send(self, status, content, kind, sha256=None):
        self.send_response(status)
        for name, value in {**HEADERS, "Content-Security-Policy": self.server.policy}.items():
            self.send_header(name, value)
        if kind:
            self.send_header("Content-Type", kind)
        if self.server.collector:
            self.send_header("Accept-Post", _REPORT_TYPE)  # tells the page that reports are taken
        if sha256:
            self.send_header("ETag", f'"{sha256}"')
        if status != 304:
            self.send_header("Content-Length", str(len(content)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, *_):
        """Requests are not logged: reports are, by the command."""
