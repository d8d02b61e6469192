"""Ray on this machine alone: neither other machines nor other users of this one reach it.

Whoever reaches Ray's ports could run code. Without clusters of several machines they are at 127.0.0.1, and
with a token they are of no use to other users. Ray's metrics ask for no token: none are collected, and two
processes that serve theirs anyway get a port that cannot be, which they only log.
"""

import os
import secrets
import sys

_CLUSTERS = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
_SETTINGS = {
    _CLUSTERS: "0",
    "RAY_AUTH_MODE": "token",
    "RAY_enable_metrics_collection": "0",
    "AUTOSCALER_METRIC_PORT": "-1",
    "DASHBOARD_METRIC_PORT": "-1",
}
_TOKEN = "RAY_AUTH_TOKEN"
_SECRET = secrets.token_hex(32)
NAMES = (*_SETTINGS, _TOKEN)


def prepare():
    """Sets the environment of a Ray that is started by this process."""
    os.environ.update(_SETTINGS, **{_TOKEN: _SECRET})
    read_again()


def read_again():
    """Makes a Ray that is imported read the environment, as it does only once by itself."""
    if "ray" not in sys.modules:
        return
    from ray._private import ray_constants
    from ray._raylet import AuthenticationTokenLoader, Config

    ray_constants.ENABLE_RAY_CLUSTER = os.environ.get(_CLUSTERS, "1") == "1"
    Config.initialize("")
    AuthenticationTokenLoader.instance().reset_cache()
