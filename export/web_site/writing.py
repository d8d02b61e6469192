"""Writes the site: the built page, the bundle, and `site.json`, which names and vouches for every file.

The folder needs nothing else, no address outside of it, and no server that does more than send its files.
"""

import hashlib
import pathlib
import shutil

from export.bundles import reading
from hsvit_runtime import files
from hsvit_runtime.errors import MissingFileError

PAGE = pathlib.Path(__file__).parents[2] / "web_demo" / "dist"
_BUILT = "built.json"
_VERSION = 1


def write(bundle, output, page=None):
    """Writes a site.

    Args:
        bundle: path of a folder with a `bundle.json`.
        output: path of the folder to write; an older site is replaced.
        page: path of the folder of the built page; that of `web_demo` by default.

    Returns:
        dict, the content of `site.json`.

    Raises:
        InputError: the bundle has a fault.
        OSError: a file cannot be read or written, or the page is not built.
    """
    page = page or PAGE
    if not (page / _BUILT).is_file():
        raise MissingFileError(f"the page is not built, {page} is missing: `make web-page` builds it")
    bundle = reading.read(bundle)
    with files.replacing_folder(output, "site.json") as folder:
        shutil.copytree(page, folder, dirs_exist_ok=True)
        (folder / _BUILT).unlink()
        (folder / "bundle").mkdir()
        # One file instead of a PNG an image: pixels arrive unchanged, however the browser decodes pictures.
        (folder / "bundle" / "pixels.bin").write_bytes(bundle.pixels.tobytes())
        for path in (bundle.folder / "bundle.json", *bundle.model_files):
            target = folder / "bundle" / path.relative_to(bundle.folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        facts = _describe(folder)
        digest = hashlib.sha256(repr(sorted(facts.items())).encode()).hexdigest()[:16]
        _put_version(folder / "service_worker.js", digest)
        facts["service_worker.js"] = _facts(folder / "service_worker.js")
        site = {"site_version": _VERSION, "version": digest, "files": facts}
        files.write_json(folder / "site.json", site)
    return site


def _describe(folder):
    """Size and SHA-256 of every file, by its path in the folder."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): _facts(path) for path in paths}


def _facts(path):
    content = path.read_bytes()
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def _put_version(script, version):
    """Another version is another script: by that a browser notices that what it keeps is old."""
    script.write_text(f"self.SITE_VERSION={version!r};{script.read_text(encoding='utf-8')}", encoding="utf-8")
