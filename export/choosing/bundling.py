"""The models to choose from as one bundle for the Android app, which compares each with its own artifacts."""

import dataclasses

from export.bundles import writing
from export.choosing import artifacts
from hsvit_runtime.errors import InputError


def write(models, workdir, conversion, **data):
    """Writes the bundle, of artifacts that the app's runtime loads, and prints where; or why there is none.

    Args:
        models: list of `models.Model`.
        workdir: path of the folder of the comparison: the artifacts go to `app`, the bundle to `bundle`.
        conversion: `artifacts.Conversion`.
        **data: `data`, `data_dir` and `input_range` of `writing.Request`.
    """
    presets = [preset for preset in conversion.presets if preset != "float32"]  # which the originals are
    if not presets:
        print("no bundle: it compares float32 originals with artifacts of other presets")
        return
    conversion = dataclasses.replace(conversion, presets=presets, runtime=writing.RUNTIME)
    made = artifacts.make(models, workdir / "app", conversion)
    originals = []
    for model in models:
        mobile = [one.path for one in made if one.model is model and one.report]
        if mobile:
            originals.append(writing.Original(model.path, mobile, model.name))
    title = f"{len(originals)} models on {models[0].data_set}"
    try:
        if not originals:
            raise InputError("no artifact could be made for the app's runtime")
        bundle = writing.write(writing.Request(originals, str(workdir / "bundle"), name=title, **data))
    except InputError as error:
        print(f"no bundle: {error}")
        return
    print(f"wrote {workdir / 'bundle'} for the app: {title}, {len(bundle['pairs'])} pairs")
