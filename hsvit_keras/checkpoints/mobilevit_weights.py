"""The way through the weights of a MobileViT, whose parts each library names differently."""

import dataclasses

from hsvit_keras.checkpoints import tensors as read


@dataclasses.dataclass(frozen=True)
class Names:
    """What a library calls the parts of a MobileViT.

    Names may hold `{stage}`, counted from 0, `{number}`, the same from 1, and `{index}` of a block within the
    stage. Those of a stage's second half begin behind `transformer`; those without a module are None.

    Attributes:
        stem, last, head: str, the layers before and behind the stages.
        residual: str, an inverted residual; `downsampling`, the one in front of a transformer.
        expand, depthwise, project: str, the convolutions in it.
        transformer: str, what follows that residual.
        local, input, output, fusion: str, its convolutions, of which the input's is not normalized.
        block: str, a transformer block; `norm`, the normalization behind the last one, where `{index}` is
            their number.
        convolution, normalization: str, the two parts of a normalized convolution.
    """

    stem: str
    residual: str
    downsampling: str
    expand: str
    depthwise: str
    project: str
    transformer: str
    local: str
    input: str
    block: str
    norm: str
    output: str
    fusion: str | None
    last: str | None
    head: str
    convolution: str
    normalization: str


def load(model, tensors, names, load_block):
    """Sets the weights of a model.

    Args:
        model: `keras.Model`, a MobileViT or MobileViTV2.
        tensors: `Tensors`.
        names: `Names`.
        load_block: function from (model, tensors, what the names of our layers start with, the library's
            module) that sets the weights of a transformer block.
    """

    def convolution(layer, name):
        read.normalized_convolution(
            model, tensors, layer, f"{name}.{names.convolution}", f"{name}.{names.normalization}"
        )

    def residual(layer, name):
        for part in ("expand", "depthwise", "project"):
            convolution(f"{layer}_{part}", f"{name}.{getattr(names, part)}")

    def transformer(stage, name, depth):
        convolution(f"{stage}_local_conv", f"{name}.{names.local}")
        read.convolution(model.get_layer(f"{stage}_input_conv"), tensors, f"{name}.{names.input}")
        for index in range(depth):
            theirs = names.block.format(index=index)
            load_block(model, tensors, f"{stage}_block{index}", f"{name}.{theirs}")
        norm = names.norm.format(index=depth)
        read.normalization(model.get_layer(f"{stage}_norm"), tensors, f"{name}.{norm}")
        convolution(f"{stage}_output_conv", f"{name}.{names.output}")
        if names.fusion:
            convolution(f"{stage}_fusion_conv", f"{name}.{names.fusion}")

    convolution("stem_conv", names.stem)
    without_transformer = len(model.depths) - len(model.hidden_dims)
    for i, depth in enumerate(model.depths):
        stage, place = f"stage{i}", {"stage": i, "number": i + 1}
        if i < without_transformer:
            for index in range(depth):
                residual(f"{stage}_residual{index}", names.residual.format(**place, index=index))
        else:
            residual(f"{stage}_residual0", names.downsampling.format(**place))
            transformer(stage, names.transformer.format(**place), depth)
    if names.last:
        convolution("last_conv", names.last)
    read.dense(model.get_layer("head"), tensors, names.head)
