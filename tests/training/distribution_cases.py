"""Trains the same small model on one device, then on four that share images, then groups; prints the losses.

A process of its own, for the number of devices is settled before anything is computed.
"""

import json
import random

import keras
import numpy as np

from tests.models.small import small_model
from training.fitting import distribution

BATCH_SIZE, DEVICES = 16, 4


def build():
    random.seed(0)
    return small_model("hsvit_c2a2")


def images():
    rng = np.random.default_rng(0)
    labels = np.eye(5, dtype="float32")[rng.integers(0, 5, 5 * BATCH_SIZE)]
    return rng.normal(size=(len(labels), 16, 16, 3)).astype("float32"), labels


class Losses(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.values = []

    def on_train_batch_end(self, batch, logs=None):
        self.values.append(float(logs["loss"]))


def train(callbacks=(), sent=False):
    pictures, labels = images()
    model, losses = build(), Losses()
    model.compile("adam", keras.losses.CategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    model.optimizer.build(model.trainable_variables)
    bytes_sent = (
        distribution.communication(model, (pictures[:BATCH_SIZE], labels[:BATCH_SIZE])) if sent else None
    )
    history = model.fit(
        pictures,
        labels,
        BATCH_SIZE,
        shuffle=False,
        verbose=0,
        callbacks=[losses, *callbacks],
        validation_data=(pictures[:35], labels[:35]),  # the last batch cannot be shared out evenly
    )
    shards = {
        variable.path: len({str(shard.index) for shard in variable.value.addressable_shards})
        for variable in model.variables
    }
    return {
        "losses": losses.values,
        "val_loss": history.history["val_loss"][0],
        "parameters": int(sum(np.prod(variable.shape) for variable in model.trainable_variables)),
        "bytes": bytes_sent,
        "cut": sorted(path for path, count in shards.items() if count == DEVICES),
    }


def main():
    devices = distribution.take_devices(DEVICES)
    results = {"one": train()}
    for kind in distribution.KINDS:
        callbacks = distribution.distribute(kind, devices, BATCH_SIZE, build)
        results[kind] = train(callbacks, sent=True)
    print(json.dumps(results))


if __name__ == "__main__":
    main()
