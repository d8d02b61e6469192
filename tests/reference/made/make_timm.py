"""Writes `timm.json`: tensors of timm's models, how they prepare pictures, and answers.

Made with timm 1.0.31 and PyTorch 2.15.0 by `python tests/reference/made/make_timm.py`.

`tensors` is the SHA-256 of the lines "name shape", sorted, without counters of batch normalization and the
indices of EfficientFormer's biases, which follow from its size. `answers`: logits in float64 of models with
10 classes and the weights of `weight`, for the pixels of `pixels`.
"""

import hashlib
import json
import pathlib
import zlib

import numpy as np

NAMES = (
    "resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "mobilenetv2_035", "mobilenetv2_050",
    "mobilenetv2_075", "mobilenetv2_100", "mobilenetv2_140", "efficientnet_b0", "efficientnet_b1",
    "efficientnet_b2", "efficientnet_b3", "efficientnet_b4", "tf_efficientnet_b0", "tf_efficientnet_b1",
    "tf_efficientnet_b2", "tf_efficientnet_b3", "tf_efficientnet_b4", "tf_efficientnet_b5",
    "tf_efficientnet_b6", "tf_efficientnet_b7", "vit_tiny_patch16_224", "vit_small_patch16_224",
    "vit_base_patch16_224", "vit_large_patch16_224", "vit_tiny_patch16_384", "vit_small_patch16_384",
    "vit_base_patch16_384", "vit_large_patch16_384", "vit_small_patch32_224", "vit_base_patch32_224",
    "vit_small_patch32_384", "vit_base_patch32_384", "vit_base_patch8_224", "deit_tiny_patch16_224",
    "deit_small_patch16_224", "deit_base_patch16_224", "deit_base_patch16_384",
    "deit_tiny_distilled_patch16_224", "deit_small_distilled_patch16_224",
    "deit_base_distilled_patch16_224", "deit_base_distilled_patch16_384", "mobilevit_xxs", "mobilevit_xs",
    "mobilevit_s", "efficientformer_l1", "efficientformer_l3", "efficientformer_l7", "swiftformer_xs",
    "swiftformer_s", "swiftformer_l1", "swiftformer_l3", "pit_ti_224", "pit_xs_224", "pit_s_224",
    "pit_b_224", "pit_ti_distilled_224", "pit_xs_distilled_224", "pit_s_distilled_224",
    "pit_b_distilled_224",
)  # fmt: skip
NUM_CLASSES = 10
NOT_COUNTED = ("num_batches_tracked", "attention_bias_idxs")
# Height and width of the images, and the gain of weights with which answers depend on images.
ANSWERS = {
    "resnet18": (64, 96, 1.3), "resnet50": (64, 64, 1.3), "mobilenetv2_035": (64, 96, 2.0),
    "mobilenetv2_140": (64, 64, 2.0), "efficientnet_b0": (64, 96, 2.4), "tf_efficientnet_b1": (72, 57, 2.4),
    "vit_tiny_patch16_224": (64, 96, 1.3), "deit_tiny_distilled_patch16_224": (64, 64, 1.3),
    "mobilevit_xxs": (64, 96, 2.4), "mobilevit_xs": (48, 80, 2.4), "efficientformer_l1": (224, 224, 2.0),
    "swiftformer_xs": (64, 96, 1.5), "pit_ti_224": (64, 64, 1.3), "pit_ti_distilled_224": (64, 64, 1.3),
}  # fmt: skip
OF_ONE_SIZE = ("vit", "deit", "pit")  # whose positions are made for `img_size`


def noise(name, shape):
    """Numbers of -1 to 1 that look random, by integers alone."""
    x = np.arange(int(np.prod(shape)), dtype="uint32") + np.uint32(zlib.crc32(name.encode()))
    for _ in range(2):
        x = (x ^ (x >> np.uint32(16))) * np.uint32(0x45D9F3B)
    return ((x ^ (x >> np.uint32(16))) / 2**31 - 1).reshape(shape)


def weight(name, shape, gain):
    """The tensor of a name, float32, with which branches and normalizations count.

    Args:
        name: str.
        shape: tuple.
        gain: float, the variance that a layer of convolution or Dense gives to inputs of variance 1.
    """
    values = noise(name, shape)
    if name.endswith("running_var"):
        values = 1 + 0.3 * abs(values)
    elif "gamma" in name:
        values = 0.3 + 0.1 * values
    elif name.endswith(("embed", "token", "biases")):
        values = 0.5 * values
    elif len(shape) > 1:
        values = values * np.sqrt(3 * gain / np.prod(shape[1:]))
    else:
        values = (1 if name.endswith("weight") else 0) + 0.1 * values
    return values.astype("float32")


def pixels(height, width):
    """Two images (2, height, width, 3) of pixels of 0 to 255, in patches of one colour."""
    coarse = noise("pixels", (2, -(-height // 16), -(-width // 16), 3)).repeat(16, axis=1).repeat(16, axis=2)
    return np.rint(127.5 + 127.5 * coarse[:, :height, :width]).astype("float32")


def digest(shapes):
    """The digest of a dict from names to shapes."""
    lines = sorted(f"{name} {tuple(shape)}" for name, shape in shapes.items())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def shapes_of(model):
    return {
        name: tuple(tensor.shape)
        for name, tensor in model.state_dict().items()
        if not name.endswith(NOT_COUNTED)
    }


def facts(name):
    import timm

    model = timm.create_model(name)
    config = model.pretrained_cfg
    keys = ("input_size", "interpolation", "crop_pct", "crop_mode", "mean", "std")
    return {**{key: config[key] for key in keys}, "tensors": digest(shapes_of(model))}


def answer(name, sides, gain):
    """The logits in float64, and how far those in float32 are from them at most."""
    import timm
    import torch

    sizes = {"img_size": sides} if name.startswith(OF_ONE_SIZE) else {}
    sizes = {"img_size": sides[0]} if name.startswith("pit") else sizes
    model = timm.create_model(name, num_classes=NUM_CLASSES, **sizes)
    tensors = {key: torch.tensor(weight(key, shape, gain)) for key, shape in shapes_of(model).items()}
    model.load_state_dict(tensors, strict=False)
    mean, std = (np.asarray(model.pretrained_cfg[key]) for key in ("mean", "std"))
    images = ((pixels(*sides) / 255 - mean) / std).transpose(0, 3, 1, 2)
    images = torch.tensor(images, dtype=torch.float32)
    with torch.no_grad():
        rounded = model.eval()(images).numpy()
        exact = model.double()(images.double()).numpy()
    return exact, float(abs(rounded - exact).max())


def main():
    answers = {}
    for name, (*sides, gain) in ANSWERS.items():
        logits, rounding = answer(name, tuple(sides), gain)
        logits = logits.round(9).tolist()
        answers[name] = {"sides": sides, "gain": gain, "logits": logits, "float32_difference": rounding}
    models = {name: facts(name) for name in NAMES}
    path = pathlib.Path(__file__).with_name("timm.json")
    path.write_text(json.dumps({"models": models, "answers": answers}) + "\n")


if __name__ == "__main__":
    main()
