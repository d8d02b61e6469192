"""What a student learns from: the numbers of each loss, and that teacher and saved student stay clean."""

import zipfile

import keras
import numpy as np
import pytest
from keras import layers

from hsvit_keras.layers.model_description import describe
from tests.models.small import small_model
from training.fitting.distillation import Distiller

CLASSES = 3
# To build a model on JAX takes seconds.
WITH_TOKEN = ["deit_tiny_distilled", "pit_ti_distilled"][: 1 if keras.backend.backend() == "jax" else 2]


def network(width=6, *, softmax=False, inputs=4, classes=CLASSES, name=None, dtype=None):
    image = keras.Input((inputs,))
    hidden = layers.Dense(width, name="hidden", dtype=dtype)(image)
    hidden = layers.BatchNormalization(name="norm", dtype=dtype)(hidden)
    hidden = layers.Dropout(0.5, name="dropout", dtype=dtype)(hidden)
    activation = "softmax" if softmax else None
    logits = layers.Dense(classes, activation=activation, name="head", dtype=dtype)(hidden)
    return keras.Model(image, logits, name=name)


@pytest.fixture(scope="module")
def images():
    return np.random.default_rng(0).normal(size=(32, 4)).astype("float32")


@pytest.fixture(scope="module")
def labels():
    return np.eye(CLASSES, dtype="float32")[np.random.default_rng(1).integers(CLASSES, size=32)]


def compiled(student, teachers, **arguments):
    distiller = Distiller(student, teachers, **arguments)
    distiller.compile(
        keras.optimizers.Adam(0.01),
        loss=keras.losses.CategoricalCrossentropy(from_logits=True),
        metrics=[keras.metrics.CategoricalAccuracy(name="accuracy")],
    )
    return distiller


def predicted(model, images):
    return np.asarray(model.predict_on_batch(images), "float64")


def loss_of(distiller, outputs, labels, images, **arguments):
    """The loss of a step in which the student answered `outputs`."""
    return float(distiller.compute_loss(images, labels, outputs, training=True, **arguments))


def answering(logits, features=()):
    return {"output": logits, "on_labels": logits, "on_teacher": logits, "features": list(features)}


def softmax(logits):
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def crossentropy(targets, logits):
    return -(targets * np.log(softmax(logits))).sum(-1).mean()


def divergence(targets, logits):
    return (targets * np.log(targets / softmax(logits))).sum(-1).mean()


@pytest.fixture(scope="module")
def logits():
    return np.random.default_rng(2).normal(size=(32, CLASSES), scale=3).astype("float32")


@pytest.mark.parametrize("alpha, temperature", [(0.0, 3.0), (0.3, 1.0), (0.3, 4.0), (1, 2)])
def test_soft_labels_are_those_of_hinton(images, labels, logits, alpha, temperature):
    teacher = network()
    distiller = compiled(network(), teacher, alpha=alpha, temperature=temperature)
    taught = softmax(predicted(teacher, images) / temperature)
    expected = (1 - alpha) * crossentropy(labels, logits)
    expected += alpha * temperature**2 * divergence(taught, logits / temperature)
    assert loss_of(distiller, answering(logits), labels, images) == pytest.approx(expected, rel=1e-5)


def test_a_student_that_answers_as_its_teacher_has_no_loss(images, labels):
    teacher = network()
    distiller = compiled(network(), teacher, alpha=1.0)
    answers = predicted(teacher, images).astype("float32")
    assert loss_of(distiller, answering(answers), labels, images) == pytest.approx(0, abs=1e-5)


def test_hard_labels_are_the_teachers_decisions_at_any_temperature(images, labels, logits):
    teacher = network()
    distiller = compiled(network(), teacher, alpha=0.5, temperature=9.0, hard=True)
    decisions = np.eye(CLASSES)[predicted(teacher, images).argmax(-1)]
    expected = 0.5 * crossentropy(labels, logits) + 0.5 * crossentropy(decisions, logits)
    assert loss_of(distiller, answering(logits), labels, images) == pytest.approx(expected, rel=1e-5)


def test_several_teachers_answer_by_the_geometric_mean_of_their_probabilities(images, labels, logits):
    teachers = network(5, name="one"), network(7, name="two")
    distiller = compiled(network(), teachers, alpha=1.0, temperature=2.0)
    product = np.prod([softmax(predicted(teacher, images) / 2) for teacher in teachers], axis=0) ** (1 / 2)
    expected = 4 * divergence(product / product.sum(-1, keepdims=True), logits / 2)
    assert loss_of(distiller, answering(logits), labels, images) == pytest.approx(expected, rel=1e-5)


def test_a_teacher_behind_a_softmax_teaches_as_its_logits_do(images, labels, logits):
    plain, with_softmax = network(), network(softmax=True)
    with_softmax.set_weights(plain.get_weights())
    layer_at_end = keras.Sequential([plain, layers.Softmax()])
    described = describe(with_softmax, task="classification")
    losses = [
        loss_of(compiled(network(), teacher), answering(logits), labels, images)
        for teacher in (plain, with_softmax, layer_at_end, described)
    ]
    assert losses[1:] == pytest.approx([losses[0]] * 3, rel=1e-5)


def test_confidence_in_the_wrong_class_still_teaches(images, labels):
    """Where probabilities vanish in float32, logits have gradients nonetheless."""
    distiller = compiled(network(), network(), alpha=1.0, temperature=1.0)
    far, further = (np.float32([[-size, 0, size]] * 32) for size in (200, 300))
    losses = [loss_of(distiller, answering(logits), labels, images) for logits in (far, further)]
    assert losses[1] - losses[0] > 10


def test_images_count_by_their_weights(images, labels, logits):
    teacher = network()
    distiller = compiled(network(), teacher, alpha=0.5, hard=True)
    weights = np.float32([2] * 8 + [0] * 24)
    loss = loss_of(distiller, answering(logits), labels, images, sample_weight=weights)
    decisions = np.eye(CLASSES)[predicted(teacher, images).argmax(-1)]
    both = crossentropy(labels[:8], logits[:8]) + crossentropy(decisions[:8], logits[:8])
    assert loss == pytest.approx(0.5 * both * 2 * 8 / 32, rel=1e-5)


@pytest.mark.parametrize("name", WITH_TOKEN)
def test_the_distillation_token_learns_from_the_teacher_and_the_class_token_from_labels(name):
    student = small_model(name)
    # Heads that answer the same to every image.
    of_labels, of_teacher = np.float32([[1, 2, 3, 4, 5]]), np.float32([[2, 0, 1, 0, 3]])
    for head, (answer,) in (("head", of_labels), ("head_distillation", of_teacher)):
        kernel, _ = student.get_layer(head).get_weights()
        student.get_layer(head).set_weights([np.zeros_like(kernel), answer])
    decided = keras.Sequential([keras.Input((16, 16, 3)), layers.GlobalAveragePooling2D(), layers.Dense(5)])
    decided.layers[-1].set_weights([np.zeros((3, 5)), np.float32([0, 0, 9, 0, 0])])
    distiller = compiled(student, decided, hard=True)
    images, labels = np.zeros((2, 16, 16, 3), "float32"), np.eye(5, dtype="float32")[[0, 1]]
    outputs = distiller.learner.predict_on_batch(images)
    expected = 0.5 * crossentropy(labels, of_labels) + 0.5 * crossentropy(np.eye(5)[[2, 2]], of_teacher)
    assert loss_of(distiller, outputs, labels, images) == pytest.approx(expected, rel=1e-5)
    np.testing.assert_allclose(outputs["output"], np.repeat((of_labels + of_teacher) / 2, 2, 0), rtol=1e-6)


def test_features_of_one_width_are_compared_as_they_are(images, labels, logits):
    teacher = network()
    distiller = compiled(network(), teacher, alpha=0, features=[("dropout", "norm")], feature_weight=0.5)
    ours = np.random.default_rng(3).normal(size=(32, 6)).astype("float32")
    theirs = predicted(keras.Model(teacher.input, teacher.get_layer("norm").output), images)
    expected = crossentropy(labels, logits) + 0.5 * np.square(ours - theirs).mean()
    assert loss_of(distiller, answering(logits, [ours]), labels, images) == pytest.approx(expected, rel=1e-5)


def test_features_of_two_widths_are_led_together_by_what_is_learned(images, labels):
    student, teacher = network(5), network(7)
    distiller = compiled(student, teacher, alpha=0.0, features=[("norm", "norm")], feature_weight=10.0)
    projection = distiller.learner.get_layer("norm_projection")
    before = np.asarray(projection.kernel)
    assert before.shape == (5, 7)
    history = distiller.fit(images, labels, epochs=15, batch_size=8, verbose=0).history["loss"]
    assert history[-1] < 0.7 * history[0]
    assert np.abs(np.asarray(projection.kernel) - before).max() > 0.01
    assert projection not in student.layers


def test_while_it_validates_there_is_the_student_alone(images, labels):
    student = network()
    distiller = compiled(student, network(8), alpha=0.9, features=[("norm", "norm")])
    distiller.fit(images, labels, epochs=1, verbose=0)
    before = [np.asarray(weight) for weight in distiller.weights]
    found = distiller.evaluate(images, labels, batch_size=32, verbose=0, return_dict=True)
    assert found["loss"] == pytest.approx(crossentropy(labels, predicted(student, images)), rel=1e-5)
    right = (predicted(student, images).argmax(-1) == labels.argmax(-1)).mean()
    assert found["accuracy"] == pytest.approx(right, abs=1e-6)
    for one, other in zip(before, distiller.weights, strict=True):
        np.testing.assert_array_equal(one, np.asarray(other))


def test_the_teacher_answers_as_in_inference_and_stays_what_it_is(images, labels):
    """Its dropout would change each loss, its normalization would change its statistics."""
    teacher, student = network(8), network()
    before = teacher.get_weights()
    distiller = compiled(student, teacher, alpha=1.0, features=[("norm", "norm")])
    logits = answering(predicted(student, images).astype("float32"), [np.zeros((32, 8), "float32")])
    assert len({loss_of(distiller, logits, labels, images) for _ in range(3)}) == 1
    distiller.fit(images, labels, epochs=2, validation_data=(images, labels), verbose=0)
    for one, other in zip(before, teacher.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_student_sees_each_batch_once(images, labels):
    """Its moving mean takes one hundredth of the batch's mean, not two."""
    student = network()
    hidden = keras.Model(student.input, student.get_layer("hidden").output)
    mean = predicted(hidden, images).mean(0)
    distiller = compiled(student, network(8), features=[("norm", "norm")])
    distiller.train_on_batch(images, labels)
    np.testing.assert_allclose(student.get_layer("norm").moving_mean, 0.01 * mean, rtol=1e-4, atol=1e-7)


@pytest.mark.slow
@pytest.mark.slow_on_jax
def test_a_student_learns_to_decide_as_its_teacher(images):
    """Labels are all wrong and do not count with alpha 1."""
    teacher, student = network(8), keras.Sequential([keras.Input((4,)), layers.Dense(CLASSES)])
    wrong = np.eye(CLASSES, dtype="float32")[(predicted(teacher, images).argmin(-1))]
    distiller = Distiller(student, teacher, alpha=1.0, temperature=2.0)
    distiller.compile(keras.optimizers.Adam(0.1), loss=keras.losses.CategoricalCrossentropy(from_logits=True))
    distiller.fit(images, wrong, epochs=200, batch_size=32, verbose=0)
    agreement = (predicted(student, images).argmax(-1) == predicted(teacher, images).argmax(-1)).mean()
    assert agreement >= 31 / 32  # both are linear


@pytest.mark.slow
@pytest.mark.slow_on_jax
def test_a_student_in_half_precision_learns_from_a_teacher_in_full_compiled_by_xla(images, labels):
    student, teacher = network(dtype="mixed_bfloat16"), network(8)
    distiller = Distiller(student, teacher, features=[("norm", "norm")])
    loss = keras.losses.CategoricalCrossentropy(from_logits=True)
    distiller.compile(keras.optimizers.Adam(0.02), loss=loss, jit_compile=True)
    history = distiller.fit(images, labels, epochs=10, batch_size=32, verbose=0).history["loss"]
    assert history[-1] < history[0]
    assert student.get_layer("head").compute_dtype == "bfloat16"
    assert {weight.dtype for weight in student.trainable_weights} == {"float32"}


def test_nothing_is_left_in_the_saved_student(images, labels, tmp_path):
    student, teacher = network(), network(50, name="a_wide_teacher")
    config = student.get_config()
    distiller = compiled(student, teacher, features=[("norm", "norm")])
    distiller.fit(images, labels, epochs=1, verbose=0)
    student.save(tmp_path / "student.keras")
    assert student.get_config() == config
    with zipfile.ZipFile(tmp_path / "student.keras") as archive:
        assert b"teacher" not in archive.read("config.json") + archive.read("metadata.json")
    loaded = keras.models.load_model(tmp_path / "student.keras")
    assert [tuple(w.shape) for w in loaded.weights] == [tuple(w.shape) for w in network().weights]
    np.testing.assert_allclose(predicted(loaded, images), predicted(student, images), atol=1e-6)


def test_distillation_goes_on_from_the_saved_learner(images, labels, tmp_path):
    """Student, projection and optimizer: dropout aside, which is off here, the same numbers follow."""

    def fresh():
        keras.utils.set_random_seed(5)
        student, teacher = network(5), network(7)
        student.get_layer("dropout").rate = 0
        distiller = compiled(student, teacher, features=[("norm", "norm")])
        distiller.optimizer.build(distiller.trainable_variables)
        return distiller

    settings = {"batch_size": 16, "shuffle": False, "verbose": 0}
    whole, first, second = fresh(), fresh(), fresh()
    losses = whole.fit(images, labels, epochs=3, **settings).history["loss"]
    first.fit(images, labels, epochs=2, **settings)
    first.learner.save(tmp_path / "last.keras")
    second.learner.load_weights(tmp_path / "last.keras")
    assert second.fit(images, labels, epochs=1, **settings).history["loss"] == losses[2:]


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"alpha": 1.5}, r"alpha has to be a number in \[0, 1\]; received alpha=1\.5"),
        ({"alpha": "half"}, "alpha has to be a number"),
        ({"temperature": 0}, "temperature has to be a number above 0; received temperature=0"),
        ({"feature_weight": -1}, "feature_weight has to be a number at least 0; received feature_weight=-1"),
        ({"features": [("hiden", "norm")]}, "the student has no layer 'hiden'; did you mean 'hidden'"),
        ({"features": [("norm", "nrm")]}, "the teacher has no layer 'nrm'; did you mean 'norm'"),
    ],
)
def test_wrong_arguments_are_named(arguments, words):
    with pytest.raises(ValueError, match=words):
        Distiller(network(), network(), **arguments)


@pytest.mark.parametrize(
    "teachers, arguments, words",
    [
        (
            lambda: network(classes=4, name="four"),
            {},
            r"the output of teacher 'four' has to have the student's shape, \(None, 3\); it has \(None, 4\)",
        ),
        (
            lambda: network(inputs=5, name="five"),
            {},
            r"'five' has to take the student's images, \(None, 4\); it takes \(None, 5\)",
        ),
        (list, {}, "teachers: at least one is needed"),
        (lambda: [network(), network()], {"features": [("norm", "norm")]}, "of one teacher; received 2"),
    ],
)
def test_teachers_that_do_not_fit_are_refused(teachers, arguments, words):
    with pytest.raises(ValueError, match=words):
        Distiller(network(), teachers(), **arguments)


def test_a_student_cannot_be_its_own_teacher():
    model = network(name="both")
    with pytest.raises(ValueError, match="teacher 'both' shares weights with the student"):
        Distiller(model, keras.Model(model.input, model.output, name="both"))


def test_features_on_different_grids_cannot_be_compared():
    def maps(side):
        return keras.Sequential(
            [
                keras.Input((8, 8, 1)),
                layers.Conv2D(2, 8 // side, 8 // side, name="maps"),
                layers.GlobalAveragePooling2D(),
            ]
        )

    words = r"layer 'maps', \(None, 4, 4, 2\), cannot be compared with \(None, 2, 2, 2\)"
    with pytest.raises(ValueError, match=words):
        Distiller(maps(4), maps(2), features=[("maps", "maps")])


def test_any_keras_model_can_teach(images, labels, logits):
    """Also one without a graph."""

    class Subclassed(keras.Model):
        def __init__(self):
            super().__init__()
            self.head = layers.Dense(CLASSES)

        def call(self, images, training=None):
            return self.head(images) * (100.0 if training else 1.0)

    teacher = Subclassed()
    distiller = compiled(network(), teacher, alpha=1.0, temperature=1.0)
    taught = images @ np.asarray(teacher.head.kernel)
    expected = divergence(softmax(taught.astype("float64")), logits)
    assert loss_of(distiller, answering(logits), labels, images) == pytest.approx(expected, rel=1e-5)
