"""Writes `interpolation.json`: maps, tables of offsets and models at other sizes, as PyTorch computes them.

Made with PyTorch 2.15.0 and transformers 5.24.0 by
`PYTHONPATH=. python tests/reference/made/make_interpolation.py`.

`maps`: `torch.nn.functional.interpolate(..., align_corners=False)` of `wave(shape)`, in float64. `offsets`:
the same of tables of distances, read as maps of distances with signs. `models`: the fixtures `hf_vit`,
`hf_deit` and `hf_deit_teacher` on images of other sizes, `interpolate_pos_encoding=True`, in float64: the
positions, the class tokens' included, and the logits.
"""

import json
import pathlib
import tempfile

import numpy as np

from tests import reference

MAPS = [((4, 5), (7, 9)), ((7, 6), (3, 4)), ((3, 3), (6, 2)), ((1, 4), (3, 3)), ((5, 5), (5, 8))]
MODELS = {"hf_vit": [(30, 24), (12, 18)], "hf_deit": [(16, 32)], "hf_deit_teacher": [(36, 36), (12, 18)]}
CHANNELS = 2


def wave(shape):
    """An array by formula."""
    return np.sin(1.3 * np.arange(np.prod(shape)) ** 1.1).reshape(shape)


def interpolated(old, new, mode):
    import torch

    maps = torch.tensor(wave((1, CHANNELS, *old)))
    return torch.nn.functional.interpolate(maps, size=new, mode=mode, align_corners=False)[0]


def offsets(old, new, mode):
    """A table of distances as a map of distances with signs, and what is read from the resized map."""
    import torch

    table, (height, width) = wave((CHANNELS, *old)), old
    signed = torch.zeros(1, CHANNELS, 2 * height - 1, 2 * width - 1, dtype=torch.float64)
    for y in range(1 - height, height):
        for x in range(1 - width, width):
            signed[0, :, y + height - 1, x + width - 1] = torch.tensor(table[:, abs(y), abs(x)])
    size = [2 * side - 1 for side in new]
    resized = torch.nn.functional.interpolate(signed, size=size, mode=mode, align_corners=False)
    rows = [[resized[0, :, y + new[0] - 1, x + new[1] - 1] for x in range(new[1])] for y in range(new[0])]
    return torch.stack([torch.stack(row) for row in rows]).permute(2, 0, 1)


def model_of(fixture):
    import torch
    import transformers
    from safetensors.numpy import save_file

    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "config.json").write_text(json.dumps(fixture["config"]))
        weights = reference.weights(fixture)
        save_file(weights, pathlib.Path(folder) / "model.safetensors", {"format": "pt"})
        model = getattr(transformers, fixture["config"]["architectures"][0]).from_pretrained(folder)
    return model.eval().to(torch.float64)


def answers(name, sides):
    import torch

    fixture = reference.load(name)
    model = model_of(fixture)
    shape = [*fixture["input_shape"][:2], *sides]
    images = torch.tensor(reference.images({"input_shape": shape}).transpose(0, 3, 1, 2), dtype=torch.float64)
    with torch.no_grad():
        embeddings = next(part for key, part in model.named_modules() if key.endswith(".embeddings"))
        tokens = embeddings.patch_embeddings(images)
        leading = embeddings.position_embeddings.shape[1] - embeddings.patch_embeddings.num_patches
        tokens = torch.cat([tokens[:, :1]] * leading + [tokens], dim=1)
        positions = embeddings.interpolate_pos_encoding(tokens, *sides)[0]
        logits = model(images, interpolate_pos_encoding=True).logits
    return {
        "fixture": name,
        "input_shape": shape,
        "positions": positions.numpy().round(9).tolist(),
        "output_float64": logits.numpy().tolist(),
    }


def main():
    maps = [
        {
            "old": old,
            "new": new,
            "mode": mode,
            "values": interpolated(old, new, mode).numpy().round(12).tolist(),
        }
        for old, new in MAPS
        for mode in ("bicubic", "bilinear")
    ]
    tables = [
        {"old": old, "new": new, "mode": mode, "values": offsets(old, new, mode).numpy().round(12).tolist()}
        for old, new in MAPS
        for mode in ("bicubic", "bilinear")
    ]
    models = [answers(name, sides) for name, sizes in MODELS.items() for sides in sizes]
    path = pathlib.Path(__file__).with_name("interpolation.json")
    path.write_text(json.dumps({"maps": maps, "offsets": tables, "models": models}) + "\n")


if __name__ == "__main__":
    main()
