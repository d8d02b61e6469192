"""Distillation: a student learns from the labels and from the outputs of teachers.

    distiller = Distiller(student, teacher, alpha=0.5, temperature=3.0)
    distiller.compile("adam", loss=keras.losses.CategoricalCrossentropy(from_logits=True))
    distiller.fit(images, labels)
    student.save("student.keras")  # the student alone: nothing of the teacher is in it

Keras' own `keras.distillation.Distiller` has one teacher, no hard labels, no distillation token and no
projection of features; for features it runs the student twice a step, and in training mode even while it
validates, and it refuses a student in half precision.
"""

import keras
from keras import layers, ops

from hsvit_keras.compression.graph import functional
from hsvit_keras.layers.model_description import ModelDescription
from hsvit_keras.models.registry import suggest
from hsvit_runtime.errors import InputError
from training.fitting.onnx_teacher import OnnxTeacher

_CROSSENTROPY = keras.losses.CategoricalCrossentropy(from_logits=True)


class Distiller(keras.Model):
    """Trains a student on `(1 - alpha) * label loss + alpha * teacher loss + feature_weight * feature loss`.

    The label loss is the one given to `compile`. The teacher loss is the divergence from the teachers'
    probabilities at a temperature, times its square so that gradients keep their size (Hinton et al. 2015,
    https://arxiv.org/abs/1503.02531), or the cross-entropy with their decision. The logits of several
    teachers are averaged, which is the geometric mean of their probabilities (section 1 there). A student
    with the layers `head` and `head_distillation` learns labels with the first and the teacher with the
    second (DeiT, https://arxiv.org/abs/2012.12877; hard, with alpha 0.5). The feature loss is the mean
    squared difference of two layers' outputs (FitNets, https://arxiv.org/abs/1412.6550).

    In validation, loss and metrics are those of the student alone.

    Args:
        student: `keras.Model` as a Functional graph or `keras.Sequential`, from images to logits. It is
            trained in place, and stays as it is otherwise.
        teachers: `keras.Model` or `OnnxTeacher`, or sequence of them, from the same images to logits or,
            behind a softmax, to probabilities. Each runs in inference mode; `trainable` is set to False.
        alpha: float in [0, 1], the weight of the teachers against that of the labels.
        temperature: float above 0, what logits are divided by; not used where `hard`.
        hard: bool, whether to learn the teachers' decision instead of their probabilities.
        features: sequence of (layer of the student, layer of the teacher), by name. Where the last axis
            differs, a learned projection, which is no part of the student, maps one to the other.
        feature_weight: float, at least 0.
        name: str.

    Attributes:
        student: the student.
        learner: Functional model of the student and the projections, compiled with the same optimizer:
            what to save to go on with later.

    Raises:
        ValueError: an argument is out of its range, a layer is not there, or teacher and student do not
            fit together or share weights.
    """

    def __init__(
        self,
        student,
        teachers,
        *,
        alpha=0.5,
        temperature=3.0,
        hard=False,
        features=(),
        feature_weight=1.0,
        name="distiller",
    ):
        super().__init__(name=name)
        teachers = list(teachers) if isinstance(teachers, list | tuple) else [teachers]
        _check_numbers(alpha, temperature, feature_weight)
        _check_models(student, teachers, features)
        self.alpha = alpha
        self.temperature = 1.0 if hard else temperature
        self.hard = hard
        self.feature_weight = feature_weight
        self.student = student
        self._asks_files = any(isinstance(teacher, OnnxTeacher) for teacher in teachers)
        self.teacher = _joint_teacher(student, teachers, [theirs for _, theirs in features])
        self.teacher.trainable = False
        self.learner = _learner(student, [ours for ours, _ in features], self.teacher.output["features"])

    @property
    def layers(self):
        """Those of the student, so that callbacks find in a distiller what they look for in a model."""
        return self.student.layers

    def compile(self, optimizer="rmsprop", **kwargs):
        """As `keras.Model.compile`; `loss` and `metrics` are of the student's output and the labels."""
        if keras.backend.backend() == "tensorflow" and self._asks_files:
            kwargs["jit_compile"] = False  # what XLA compiles there cannot call back
        super().compile(optimizer, **kwargs)
        self.learner.compile(self.optimizer)

    def call(self, images, training=None):
        return self.learner(images, training=training)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        if not training:
            return super().compute_loss(x, y, y_pred["output"], sample_weight, training)
        label_loss = super().compute_loss(x, y, y_pred["on_labels"], sample_weight, training)
        taught = self.teacher(x, training=False)
        logits = ops.cast(y_pred["on_teacher"], "float32") / self.temperature
        teacher_loss = self._teacher_loss(taught["logits"] / self.temperature, logits, sample_weight)
        loss = (1 - self.alpha) * label_loss + self.alpha * self.temperature**2 * teacher_loss
        for ours, theirs in zip(y_pred["features"], taught["features"], strict=True):
            difference = ops.cast(ours, "float32") - ops.cast(theirs, "float32")
            loss += self.feature_weight * ops.mean(ops.square(difference))
        return loss

    def compute_metrics(self, x, y, y_pred, sample_weight=None):
        return super().compute_metrics(x, y, y_pred["output"], sample_weight)

    def _teacher_loss(self, taught, logits, sample_weight):
        if self.hard:
            decisions = ops.one_hot(ops.argmax(taught, axis=-1), taught.shape[-1], dtype="float32")
            return _CROSSENTROPY(decisions, logits, sample_weight)
        targets = ops.softmax(taught)
        # The divergence, as a difference of cross-entropies of logits: it does not round to zero or infinity.
        return _CROSSENTROPY(targets, logits, sample_weight) - _CROSSENTROPY(targets, taught, sample_weight)


def _joint_teacher(student, teachers, feature_layers):
    """A model from images to {"logits": float32 mean of the teachers' logits, "features": list}."""
    image = keras.Input(batch_shape=student.inputs[0].shape, dtype=student.inputs[0].dtype)
    features = []
    if feature_layers:
        graph = functional(teachers[0])
        outputs = [graph.output, *(_layer(graph, name, "teacher").output for name in feature_layers)]
        output, *features = keras.Model(graph.input, outputs)(image)
        outputs = [output]
    else:
        outputs = [teacher(image) for teacher in teachers]
    for teacher, output in zip(teachers, outputs, strict=True):
        if tuple(output.shape[1:]) != tuple(student.output_shape[1:]):
            raise InputError(
                f"the output of teacher {teacher.name!r} has to have the student's shape, "
                f"{tuple(student.output_shape)}; it has {tuple(output.shape)}"
            )
    logits = [_as_logits(teacher, output) for teacher, output in zip(teachers, outputs, strict=True)]
    return keras.Model(image, {"logits": sum(logits) / len(logits), "features": features}, name="teacher")


def _learner(student, feature_layers, teacher_features):
    """The student with all the outputs that the losses need."""
    graph = functional(student)
    output, tokens = graph.output, ("head", "head_distillation")
    has_token = {layer.name for layer in graph.layers}.issuperset(tokens)
    on_labels, on_teacher = (
        (graph.get_layer(name).output for name in tokens) if has_token else (output, output)
    )
    features = [
        _projected(name, _layer(graph, name, "student").output, goal)
        for name, goal in zip(feature_layers, teacher_features, strict=True)
    ]
    outputs = {
        "output": output,
        "on_labels": on_labels,
        "on_teacher": on_teacher if has_token else _as_logits(student, on_teacher),
        "features": features,
    }
    return keras.Model(graph.input, outputs, name="learner")


def _projected(name, ours, theirs):
    """`ours` as it is where it has the shape of `theirs`, otherwise projected along the last axis."""
    if ours.shape[1:-1] != theirs.shape[1:-1]:
        raise InputError(
            f"features of the student's layer {name!r}, {tuple(ours.shape)}, cannot be compared with "
            f"{tuple(theirs.shape)} of the teacher: only the last axis may differ"
        )
    if ours.shape[-1] == theirs.shape[-1]:
        return ours
    return layers.Dense(theirs.shape[-1], use_bias=False, dtype="float32", name=f"{name}_projection")(ours)


def _as_logits(model, output):
    """Float32 logits of an output; those of probabilities are their logarithms."""
    output = ops.cast(output, "float32")
    return ops.log(ops.maximum(output, keras.config.epsilon())) if _gives_probabilities(model) else output


def _gives_probabilities(model):
    """Whether a softmax is the last operation, described or not."""
    if not getattr(model, "outputs", None):  # a subclassed model has no graph
        return False
    last = model.outputs[0]._keras_history.operation
    if isinstance(last, ModelDescription):
        last = last.input._keras_history.operation
    if isinstance(last, keras.Model):
        return _gives_probabilities(last)
    return isinstance(last, layers.Softmax) or getattr(last, "activation", None) is keras.activations.softmax


def _layer(model, name, role):
    names = [layer.name for layer in model.layers]
    if name not in names:
        raise InputError(f"features: the {role} has no layer {name!r}; {suggest(name, names)}")
    return model.get_layer(name)


def _check_numbers(alpha, temperature, feature_weight):
    for name, value, words, fits in (
        ("alpha", alpha, "in [0, 1]", lambda: 0 <= alpha <= 1),
        ("temperature", temperature, "above 0", lambda: temperature > 0),
        ("feature_weight", feature_weight, "at least 0", lambda: feature_weight >= 0),
    ):
        if isinstance(value, bool) or not isinstance(value, int | float) or not fits():
            raise InputError(f"{name} has to be a number {words}; received {name}={value!r}")


def _check_models(student, teachers, features):
    if not teachers:
        raise InputError("teachers: at least one is needed")
    if features and len(teachers) > 1:
        raise InputError(f"features can be compared with those of one teacher; received {len(teachers)}")
    student_weights = {id(variable) for variable in student.variables}
    for teacher in teachers:
        if student_weights & {id(variable) for variable in teacher.variables}:
            raise InputError(
                f"teacher {teacher.name!r} shares weights with the student: load it from a file, or clone it"
            )
        shape = getattr(teacher, "input_shape", student.input_shape)
        if shape != student.input_shape:
            raise InputError(
                f"teacher {teacher.name!r} has to take the student's images, {student.input_shape}; "
                f"it takes {shape}"
            )
