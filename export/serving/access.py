"""Who may ask: anybody on this machine, others with a token."""

import hmac
import ipaddress
import pathlib
import socket
import stat

from starlette.responses import JSONResponse

from hsvit_runtime import input_files
from hsvit_runtime.errors import FileError, InputError

OPEN_PATHS = ("/healthz",)  # what load balancers ask, who hold no token; it says ok, degraded or down
SHORTEST = 16  # characters of a token
_LONGEST = 4096  # bytes of its file


def read_token(path):
    """The token in a file.

    Args:
        path: str or path of a file that holds nothing else, and that only its owner may read.

    Returns:
        str.

    Raises:
        FileError: it cannot be read, or others may read it.
        InputError: it holds no token.
    """
    content = input_files.read(path, "token", most=_LONGEST, may_be_empty=True)
    if pathlib.Path(path).stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise FileError(f"others may read the token in {path}: chmod 600 {path}")
    token = content.strip()
    if len(token) < SHORTEST or not all(33 <= character <= 126 for character in token):
        raise InputError(
            f"{path} has to hold one token of at least {SHORTEST} printable ASCII characters without spaces, "
            f"such as that of: openssl rand -hex 32 > {path}"
        )
    return token.decode()


def check(host, token):
    """Raises `InputError` if other machines could ask without a token: `host` is no loopback address.

    Args:
        host: str, the address or name to listen on.
        token: str; None for none.
    """
    try:
        found = {entry[4][0] for entry in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
    except (OSError, UnicodeError) as error:
        raise FileError(f"cannot listen on {host!r}: there is no such address") from error
    if token is None and not all(ipaddress.ip_address(each).is_loopback for each in found):
        raise InputError(
            f"--host={host} lets other machines ask: give a --token_file, or listen on 127.0.0.1 alone"
        )


def guarded(app, token):
    """An ASGI application that asks for `Authorization: Bearer <token>`, but for `OPEN_PATHS`.

    Args:
        app: ASGI application.
        token: str; None to ask for none.
    """
    if token is None:
        return app
    wanted = f"Bearer {token}".encode()

    async def application(scope, receive, send):
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        # All of a comparison takes as long as another, so that none tells how much of a guess was right.
        is_known = len(given) == 1 and hmac.compare_digest(given[0], wanted)
        if is_known or scope["path"] in OPEN_PATHS:
            return await app(scope, receive, send)
        refusal = JSONResponse(
            {"error": "this needs the header Authorization: Bearer and the service's token"},
            401,
            {"WWW-Authenticate": "Bearer"},
        )
        return await refusal(scope, receive, send)

    return application
