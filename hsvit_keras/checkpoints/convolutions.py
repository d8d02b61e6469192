"""Names of the blocks and layers of ResNet, MobileNetV2 and EfficientNet."""


def blocks(model):
    """A list of what the names of each block's layers start with, `stage0_block0` first."""
    return [f"stage{stage}_block{i}" for stage, depth in enumerate(model.depths) for i in range(depth)]


def has(model, layer):
    """Whether a model has a layer of this name."""
    return any(ours.name == layer for ours in model.layers)
