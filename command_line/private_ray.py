"""Ray on this machine alone: neither other machines nor other users of this one reach it.

Whoever reaches Ray's ports could run code. Without clusters of several machines they are at 127.0.0.1, and
with a token they are of no use to other users. Ray's metrics ask for no token: none are collected, and two
processes that serve theirs anyway get a port that cannot be, which they only log.
"""

import os
import secrets

_SETTINGS = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_AUTH_MODE": "token",
    "RAY_enable_metrics_collection": "0",
    "AUTOSCALER_METRIC_PORT": "-1",
    "DASHBOARD_METRIC_PORT": "-1",
}
_TOKEN = "RAY_AUTH_TOKEN"
_SECRET = secrets.token_hex(32)  # one for the process: Ray keeps the first that it reads
NAMES = (*_SETTINGS, _TOKEN)


def prepare():
    """Sets the environment of a Ray that is started by this process, which has not imported it yet."""
    os.environ.update(_SETTINGS, **{_TOKEN: _SECRET})
