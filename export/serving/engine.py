"""The whole service, from start to stop: nodes in processes of Ray, and HTTP in front of them."""

import contextlib

from export.serving import access, cluster, server
from export.serving.service import Service


@contextlib.contextmanager
def running(manifest, *, num_nodes, deadline, host, port, token_file=None, address=None, log_requests=True):
    """Runs a service while the context is open; afterwards none of its processes is left.

    Args:
        manifest: `manifest.Manifest`.
        num_nodes: int, from 1 to the number of shards.
        deadline: float, seconds to wait for the nodes, for each image.
        host: str, the address to listen on.
        port: int.
        token_file: str, path of the file with the token that clients have to know; None for none.
        address: str, of a cluster of Ray; None for this machine alone.
        log_requests: bool, whether each request is logged.

    Yields:
        (url, token): str; str or None.

    Raises:
        InputError: there are fewer shards than nodes, the cluster has no room for them, or other machines
            could ask without a token.
        FileError: the port is not free, there is no cluster at the address, or the token cannot be read.
    """
    token = None if token_file is None else access.read_token(token_file)
    access.check(host, token)
    with (
        contextlib.closing(server.listener(host, port)) as sock,
        cluster.running(manifest, num_nodes=num_nodes, address=address) as (handles, groups),
    ):
        service = Service(manifest, handles, groups, deadline)
        with server.running(service, sock, token=token, log_requests=log_requests) as url:
            yield url, token
