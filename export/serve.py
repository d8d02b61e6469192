"""Serves an HSViT whose shards are spread over nodes, also while some of the nodes are lost.

    python -m export.serve --manifest=DIR/manifest.json --num_nodes=4 [--deadline_ms=50] [--port=8000]
    curl --data-binary @picture.png -H "Content-Type: image/png" http://127.0.0.1:8000/classify

Nodes are processes of this machine, until Ctrl-C or SIGTERM; with `--address` they are spread over a cluster
of Ray. Other machines may ask where `--host` says so, with the token of `--token_file`. Each request is a
line of JSON on standard error. `--bench` measures latency and throughput instead of waiting for requests.
"""

import contextlib
import signal
import sys

from absl import flags

from command_line import bounded, commands, private_ray
from export.serving import bench, manifest
from hsvit_runtime import files, outputs
from hsvit_runtime.errors import MissingPackageError
from measuring import device

FLAGS = flags.FLAGS
_PACKAGES = ("ray", "starlette", "uvicorn", "h11", "prometheus_client")


def define_flags():
    flags.DEFINE_string("manifest", None, "manifest.json of python -m export.shards.", required=True)
    bounded.integer("num_nodes", 4, "Processes that hold the shards.", 1, 1024)
    bounded.number("deadline_ms", 50.0, "How long a request waits for nodes.", 1, 600_000)
    flags.DEFINE_string("host", "127.0.0.1", "Address to listen on; 0.0.0.0 for all of this machine.")
    bounded.port("Port to listen on.")
    flags.DEFINE_string("token_file", None, "File with the token that clients send; needed for other hosts.")
    flags.DEFINE_string("address", None, "A running cluster of Ray, such as auto or 10.0.0.1:6379.")
    flags.DEFINE_bool("bench", False, "Measure, then stop.")
    bounded.seconds("With --bench: how long each measurement takes.")
    flags.DEFINE_string("output", "serve.json", "With --bench: JSON file to write.")


def main(_):
    if FLAGS.bench:
        outputs.check(FLAGS.output, outputs.json_with("num_nodes", "rows"), reads=[FLAGS.manifest])
    else:
        commands.refuse_useless("without --bench", "seconds", "output")
    engine = _engine()
    shards = manifest.read(FLAGS.manifest)
    print(f"starting {FLAGS.num_nodes} node(s) for {shards.model}, {len(shards.shards)} shard(s)", flush=True)
    stdout = sys.stdout  # which is redirected while Ray runs
    with engine.running(
        shards,
        num_nodes=FLAGS.num_nodes,
        deadline=FLAGS.deadline_ms / 1e3,
        host=FLAGS.host,
        port=FLAGS.port,
        token_file=FLAGS.token_file,
        address=FLAGS.address,
        log_requests=not FLAGS.bench,
    ) as (url, token):
        if FLAGS.bench:
            rows = bench.measure(url, shards.image_shape, FLAGS.seconds, token)
        else:
            _wait_for_interrupt(f"serving at {url}: POST /classify, GET /health; Ctrl-C stops", stdout)
    if FLAGS.bench:
        report = {
            "model": shards.model,
            "preset": shards.preset,
            "num_shards": len(shards.shards),
            "num_nodes": FLAGS.num_nodes,
            "deadline_ms": FLAGS.deadline_ms,
            "device": device.describe(),
            "rows": rows,
        }
        files.write_json(FLAGS.output, report)
        print(f"{bench.table(rows)}\nwrote {FLAGS.output}")
    else:
        print("stopped")


def _engine():
    """The module `serving.engine`, which needs Ray and a web server."""
    if FLAGS.address is None:
        private_ray.prepare()
    try:
        from export.serving import engine
    except ModuleNotFoundError as error:
        if error.name not in _PACKAGES:
            raise
        raise MissingPackageError(
            f"serving needs Ray and uvicorn ({error}): pip install 'hsvit-keras[horizontal]'"
        ) from error
    return engine


def _wait_for_interrupt(announcement, stdout):
    with contextlib.suppress(KeyboardInterrupt):  # which may come as soon as the announcement is read
        print(announcement, file=stdout, flush=True)
        while True:
            signal.pause()


if __name__ == "__main__":
    define_flags()
    commands.run(main, uses_keras=False)
