"""TimeSformer: Is Space-Time Attention All You Need for Video Understanding?, https://arxiv.org/abs/2102.05095.

DeiT over clips: patches of all frames are tokens. In joint attention each token attends to all; in divided
attention first to those of its place in all frames, then to those of its frame. The DeiT and DeiT-Scaled
forms are those of An Investigation on Hardware-Aware Vision Transformer Scaling, Appendix C.

Frames stand below each other in one high image, so that no tensor behind the input has more than four axes.
Tokens are `(batch, patches, frames, dim)`: a frame is a group for attention over patches, and a patch a
group for attention over frames.

Differs from the authors' program: the class token includes its position, which is a weight of its own there.
Time embeddings, and the projection behind attention over frames, start with zeros only in models made from
image models, see `TimeSformer.from_image_model`: small models that are trained from scratch learned the order
of frames much later with zeros.
"""

import keras
from keras import layers

from hsvit_keras.layers import ClassToken, FirstToken, JoinTokens, PositionEmbedding, TokenRange
from hsvit_keras.models import blocks
from hsvit_keras.models.deit import VARIANTS as DEIT
from hsvit_keras.models.deit import VisionTransformer
from hsvit_keras.models.image_model import ImageModel, as_plain, constructor_arguments
from hsvit_keras.models.registry import register_model
from hsvit_runtime.errors import InputError, listed

ATTENTION = ("divided", "joint")
# Those of the scaling paper's Table 9.
BACKBONES = ("deit_tiny", "deit_small", "deit_scaled_tiny", "deit_scaled_small")
_TIME_STDDEV = 0.5  # of a fresh model, as large as what tokens have of their patches
# What an image model of the same patches has, too.
_SHARED_ARGUMENTS = (
    "patch_size", "hidden_dim", "depth", "num_heads", "mlp_dim", "qkv_bias", "layer_norm_epsilon", "mean",
    "std", "resizing", "dtype",
)  # fmt: skip


@keras.saving.register_keras_serializable("hsvit_keras")
class TimeSformer(ImageModel):
    """TimeSformer, a Functional graph from clips to logits.

    | model                                   | input             | classes | parameters | MACs       |
    | --------------------------------------- | ----------------- | ------- | ---------- | ---------- |
    | `timesformer_divided_deit_tiny`         | 8 x 224 x 224 x 3 | 400     | 7,830,928  | 13,066.8 M |
    | `timesformer_divided_deit_small`        | 8 x 224 x 224 x 3 | 400     | 30,701,968 | 48,827.6 M |
    | `timesformer_divided_deit_scaled_tiny`  | 8 x 160 x 160 x 3 | 400     | 15,997,328 | 12,883.6 M |
    | `timesformer_divided_deit_scaled_small` | 8 x 256 x 256 x 3 | 400     | 22,752,656 | 50,594.0 M |
    | `timesformer_joint_deit_tiny`           | 8 x 224 x 224 x 3 | 400     | 5,602,960  | 18,381.2 M |
    | `timesformer_joint_deit_small`          | 8 x 224 x 224 x 3 | 400     | 21,822,352 | 52,264.2 M |
    | `timesformer_joint_deit_scaled_tiny`    | 8 x 160 x 160 x 3 | 400     | 11,384,720 | 12,723.1 M |
    | `timesformer_joint_deit_scaled_small`   | 8 x 256 x 256 x 3 | 400     | 16,163,216 | 72,131.7 M |
    | `timesformer_tiny`                      | 8 x 24 x 24 x 1   | 6       | 95,814     | 11.8 M     |

    Trainable parameters; multiply-adds are those of the mobile artifact.

    Features: `tokens`, the last tokens before the final normalization, `(batch, patches, frames, dim)`;
    `pooled`, the normalized class token.

    Args:
        input_shape: (frames, height, width, channels) of a clip.
        num_classes: int, number of logits.
        attention: str, `"divided"` or `"joint"`.
        patch_size: int, side of a patch in pixels; divides height and width.
        hidden_dim: int, length of a token.
        depth: int, blocks.
        num_heads: int; divides `hidden_dim`.
        mlp_dim: int, hidden width of the feed-forward.
        qkv_bias: bool, whether queries, keys and values have a bias.
        layer_norm_epsilon: float, added to the variance in each layer normalization.
        dropout_rate: float in [0, 1), of the feed-forward.
        stochastic_depth_rate: float in [0, 1), the chance that a branch of the last block is left out in
            training, in divided attention of each frame or place by itself; that of the others grows from 0
            with their depth.
        head: str, `"video_classification"`, or None for the features.
        dtype: dtype policy of all layers; the global one by default.
        name: str.

    Raises:
        ValueError: an argument has a value that does not fit.

    Example:

    ```python
    model = hsvit_keras.create_model("timesformer_divided_deit_tiny")
    logits = model(np.zeros((1, 8, 224, 224, 3), "float32"))  # (1, 400)
    ```

    References:
        - [TimeSformer](https://arxiv.org/abs/2102.05095), section 3
        - An Investigation on Hardware-Aware Vision Transformer Scaling, Appendix C
    """

    task = "video_classification"
    input_name = "clip"

    def __init__(
        self,
        input_shape=(8, 224, 224, 3),
        num_classes=400,
        attention="divided",
        patch_size=16,
        hidden_dim=192,
        depth=12,
        num_heads=3,
        mlp_dim=768,
        qkv_bias=True,
        layer_norm_epsilon=1e-6,
        dropout_rate=0.0,
        stochastic_depth_rate=0.0,
        head="video_classification",
        dtype=None,
        name="timesformer",
        **kwargs,
    ):
        arguments = constructor_arguments(locals())
        frames = _check_arguments(arguments)[0]

        def build_features(image):
            maps = blocks.patch_embedding(image, patch_size, hidden_dim)[1]
            patches = maps.shape[1] // frames * maps.shape[2]
            tokens = layers.Reshape((frames, patches, hidden_dim), name="frames")(maps)
            tokens = layers.Permute((2, 1, 3), name="frames_behind_patches")(tokens)
            tokens = PositionEmbedding((2,), name="position_embedding")(tokens)
            tokens = PositionEmbedding((1,), _TIME_STDDEV, name="time_embedding")(tokens)
            tokens = ClassToken(name="class_token")(_flat(tokens, "tokens"))
            norm = blocks.layer_norm(layer_norm_epsilon)
            mixer = blocks.attention(
                "softmax", num_heads, blocks.dense(hidden_dim, qkv_bias), blocks.dense(hidden_dim)
            )
            for i, rate in enumerate(blocks.drop_rates(stochastic_depth_rate, depth)):
                block = f"block{i}"
                if attention == "divided":
                    tokens = _attend_divided(tokens, frames, norm, mixer, block, rate)
                else:
                    tokens = blocks.attend(tokens, norm, mixer, block, rate)
                tokens = blocks.feed_forward_residual(tokens, norm, mlp_dim, dropout_rate, block, rate)
            return {
                "tokens": _patches(tokens, frames, "last"),
                **blocks.pooled_class_tokens(tokens, norm),
            }

        super().__init__(build_features, blocks.classifier(num_classes), arguments, head=head, **kwargs)

    @staticmethod
    def as_image(inputs):
        """The frames of a clip below each other: `(batch, frames * height, width, channels)`."""
        frames, height, *rest = inputs.shape[1:]
        return layers.Reshape((frames * height, *rest), name="frames_below_each_other")(inputs)

    @classmethod
    def from_image_model(cls, image_model, *, frames=8, num_classes=None, attention="divided", **arguments):
        """A model of clips that starts from a trained model of images, as the authors' program does.

        Attention over frames starts as a copy of attention over patches; the projection behind it and the
        time embeddings start with zeros. So at first, with divided attention, a clip of equal frames has the
        logits of the image.

        Args:
            image_model: `VisionTransformer` without distillation token, such as `from_torch("deit", ...)`.
            frames: int, of a clip.
            num_classes: int; by default those of the image model, whose head is kept where the number is
                the same.
            attention: str, `"divided"` or `"joint"`.
            **arguments: other arguments of the class, such as `class_names` and `stochastic_depth_rate`.

        Returns:
            `TimeSformer` of clips of the image model's images.

        Raises:
            InputError: `image_model` is none of those, or an argument has a value that does not fit.
        """
        _check_image_model(image_model)
        blocks.check_integer("frames", frames, 1)
        config = image_model.get_config()
        model = cls(
            input_shape=(frames, *config["input_shape"]),
            num_classes=num_classes or config["num_classes"],
            attention=attention,
            **{name: config[name] for name in _SHARED_ARGUMENTS} | arguments,
        )
        model.take_weights(image_model)
        return model

    def take_weights(self, image_model):
        """Takes the weights of a trained model of images, as `from_image_model` does.

        Args:
            image_model: `VisionTransformer` without distillation token, for images of the size of a frame.
                Its head is taken where it has as many classes.

        Raises:
            InputError: `image_model` is none of those, or its weights have other shapes; nothing is changed
                then.
        """
        _check_image_model(image_model)
        weights = _weights_from(image_model, self)
        for layer, values in weights.items():
            layer.set_weights(values)


def _attend_divided(tokens, frames, norm, mixer, name, rate):
    """`tokens` after attention over the frames of each patch, then over the patches of each frame."""
    patches = _patches(tokens, frames, f"{name}_temporal")
    front = FirstToken(name=f"{name}_class_token")(tokens)
    front = layers.Reshape((1, 1, tokens.shape[-1]), name=f"{name}_class_of_all_frames")(front)

    over_frames = layers.Permute((2, 1, 3), name=f"{name}_patches_behind_frames")(patches)
    over_frames = mixer(norm(f"{name}_temporal_norm")(over_frames), f"{name}_temporal_attention")
    over_frames = blocks.dropped(over_frames, rate, f"{name}_temporal", apart=(2,))
    over_frames = layers.Dense(tokens.shape[-1], name=f"{name}_temporal_output")(over_frames)
    over_frames = layers.Permute((2, 1, 3), name=f"{name}_frames_behind_patches")(over_frames)
    patches = layers.Add(name=f"{name}_temporal_add")([patches, over_frames])

    joined = JoinTokens(name=f"{name}_frames_join")(front, patches)
    mixed = mixer(norm(f"{name}_norm")(joined), f"{name}_attention")
    mixed = blocks.dropped(mixed, rate, f"{name}_attention", apart=(2,))
    answers = FirstToken(name=f"{name}_class_answers")(mixed)
    answer = layers.GlobalAveragePooling2D(keepdims=True, name=f"{name}_mean_answer")(answers)
    front = layers.Add(name=f"{name}_class_add")([front, answer])
    mixed = TokenRange(1, name=f"{name}_attention_patches")(mixed)
    patches = layers.Add(name=f"{name}_attention_add")([patches, mixed])
    return JoinTokens(name=f"{name}_join")(_flat(front, f"{name}_class_flat"), _flat(patches, f"{name}_flat"))


def _patches(tokens, frames, name):
    """The tokens behind the class token, `(batch, patches, frames, dim)`."""
    tokens = TokenRange(1, name=f"{name}_tokens")(tokens)
    _, count, dim = tokens.shape
    return layers.Reshape((count // frames, frames, dim), name=f"{name}_patches")(tokens)


def _flat(tokens, name):
    """`(batch, patches, frames, dim)` to `(batch, patches * frames, dim)`."""
    _, patches, frames, dim = tokens.shape
    return layers.Reshape((patches * frames, dim), name=name)(tokens)


def _check_image_model(image_model):
    if not isinstance(image_model, VisionTransformer) or image_model.distilled:
        raise InputError(
            "image_model has to be a VisionTransformer without distillation token, such as deit_tiny; "
            f"received {type(image_model).__name__} {getattr(image_model, 'name', '')!r}"
        )


def _weights_from(image_model, model):
    """Weights of a model of clips, from those of a model of images: dict from layer to arrays."""
    theirs = {layer.name: layer.get_weights() for layer in image_model.layers}
    (position,), (class_token,) = theirs["position_embedding"], theirs["class_token"]
    theirs["position_embedding"] = [position[1:, None]]
    theirs["class_token"] = [class_token + position[:1]]
    found, misfits = {}, []
    for layer in model.layers:
        if layer.name == "time_embedding" or layer.name.endswith("_temporal_output"):
            found[layer] = [0 * weight for weight in layer.get_weights()]
            continue
        found[layer] = theirs.get(layer.name.replace("_temporal_", "_"), [])
        shapes, needed = ([tuple(w.shape) for w in weights] for weights in (found[layer], layer.weights))
        if shapes != needed:
            del found[layer]
            if layer.name != "head":  # which may have other classes
                misfits.append(f"{layer.name} has the shapes {shapes}, clips need {needed}")
    if misfits:
        raise InputError(f"the weights of {image_model.name!r} do not fit {model.name!r}: {listed(misfits)}")
    return found


def _check_arguments(arguments):
    """Returns the shape of a clip; raises `InputError` where an argument does not fit."""
    shape = as_plain(arguments["input_shape"])
    if not isinstance(shape, tuple) or len(shape) != 4:
        raise InputError(
            "input_shape has to be (frames, height, width, channels), four positive integers; "
            f"received input_shape={arguments['input_shape']!r}"
        )
    blocks.check_integer("the first number of input_shape, frames,", shape[0], 1)
    blocks.check_image_shape(shape[1:], arguments["patch_size"])
    blocks.check_choice("attention", arguments["attention"], ATTENTION)
    blocks.check_positive(arguments, "num_classes", "hidden_dim", "depth", "num_heads", "mlp_dim")
    blocks.check_divides("num_heads", arguments["num_heads"], "hidden_dim", arguments["hidden_dim"])
    blocks.check_rate("dropout_rate", arguments["dropout_rate"])
    blocks.check_rate("stochastic_depth_rate", arguments["stochastic_depth_rate"])
    return shape


def _register(attention, backbone):
    depth, num_heads, head_dim, mlp_ratio, side, patch_size = DEIT[backbone]
    hidden_dim = num_heads * head_dim
    register_model(
        f"timesformer_{attention}_{backbone}",
        TimeSformer,
        input_shape=(8, side, side, 3),
        num_classes=400,
        arguments={
            "attention": attention, "patch_size": patch_size, "hidden_dim": hidden_dim, "depth": depth,
            "num_heads": num_heads, "mlp_dim": mlp_ratio * hidden_dim,
        },
    )  # fmt: skip


for _attention in ATTENTION:
    for _backbone in BACKBONES:
        _register(_attention, _backbone)

# Ours, for demonstrations and tests: trains in a few minutes on two cores.
register_model(
    "timesformer_tiny",
    TimeSformer,
    input_shape=(8, 24, 24, 1),
    num_classes=6,
    arguments={
        "attention": "divided", "patch_size": 6, "hidden_dim": 48, "depth": 3, "num_heads": 4, "mlp_dim": 96,
    },
)  # fmt: skip
