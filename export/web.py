"""A page that measures a bundle in any browser: writes it as a folder, and serves it on this machine.

    python -m export.web --bundle=DIR --output=SITE                  # for any static host
    python -m export.web --bundle=DIR --output=SITE --serve          # on this machine
    python -m export.web --output=SITE --serve --host=0.0.0.0 --https --collect=REPORTS    # for a phone

The models run by LiteRT.js, the current LiteRT as WebAssembly. `export.bundle` makes bundles, `make web-page`
builds the page. Browsers give threads, WebGPU, the camera and offline use to this machine's own page and to
https; `--https` makes a certificate, which the phone's browser asks to trust. With `--collect`, the page
sends its reports to that folder, where `export.report` reads them.
"""

import contextlib

from absl import flags

from command_line import bounded, commands
from hsvit_runtime.errors import InputError

FLAGS = flags.FLAGS


def define_flags():
    flags.DEFINE_string("output", None, "Folder of the site; an older site is replaced.", required=True)
    flags.DEFINE_string(
        "bundle", None, "Folder with models and their bundle.json; the site's own if not given."
    )
    flags.DEFINE_bool("serve", False, "Serve the site until Ctrl-C.")
    flags.DEFINE_string("host", "127.0.0.1", "Address to serve on; 0.0.0.0 for others in the network.")
    bounded.port("Port to serve on; 0 for any that is free.", least=0)
    flags.DEFINE_bool("https", False, "Serve by https, with a certificate that is signed by itself.")
    flags.DEFINE_string("collect", None, "Folder for reports that the page sends.")


def main(_):
    if not (FLAGS.bundle or FLAGS.serve):
        raise InputError("--bundle names what to write a site of; --serve serves a site that is there")
    if FLAGS.collect and not FLAGS.serve:
        raise InputError("--collect takes reports while the site is served: --serve is missing")
    if not FLAGS.serve:
        commands.refuse_useless("without --serve", "host", "port", "https")
    if FLAGS.bundle:
        from export.web_site import writing

        site = writing.write(FLAGS.bundle, FLAGS.output)
        size = sum(facts["bytes"] for facts in site["files"].values())
        print(f"wrote {FLAGS.output}: {len(site['files'])} files, {size / 1e6:.1f} MB, for any static host")
    if FLAGS.serve:
        serve()


def serve():
    """Serves the site until it is interrupted."""
    from export.web_site import addresses, server

    shown = addresses.reachable(FLAGS.host)
    with contextlib.ExitStack() as stack:
        certificate = stack.enter_context(addresses.certificate(shown)) if FLAGS.https else None
        running = server.Server(
            FLAGS.output,
            FLAGS.host,
            FLAGS.port,
            collect=FLAGS.collect,
            certificate=certificate,
            received=_tell,
        )
        stack.enter_context(running)
        address = f"{running.scheme}://{f'[{shown}]' if ':' in shown else shown}:{running.server_port}/"
        print(addresses.qr_code(address), end="")
        print(f"serving {FLAGS.output} at {address} until Ctrl-C", flush=True)
        if not (FLAGS.https or addresses.is_this_machine(shown)):
            print(
                "without --https, a phone's browser gives no threads, WebGPU, camera and offline use",
                flush=True,
            )
        with contextlib.suppress(KeyboardInterrupt):
            running.serve_forever()
    print("\nstopped")


def _tell(path, report):
    device = report["device"]["name"] or report["device"]["os"]["name"] or "an unnamed device"
    printable = "".join(letter for letter in device if letter.isprintable())[:80]
    print(f"received {path}: {len(report['pairs'])} pairs on {printable}", flush=True)


if __name__ == "__main__":
    define_flags()
    commands.run(main, uses_keras=False)
