"""HSViT, Figure 4: feature maps of the last convolution, also of an image that is shifted and rotated.

Rows A, B and C are three images; D and E are the third one again. Columns are attention groups: of each, the
map of the kernel that its class token attends to most in the image that was not moved.
"""

import dataclasses

import numpy as np

from training.tables import hsvit_table3
from training.tabulating.plan import choose_rows
from training.visualizing import attention_maps, moving
from training.visualizing.paper_figure import PaperFigure

_DATA = "tiny_imagenet"
_IMAGES, _GROUPS = 3, 12  # of the paper
_COMPARED = 64  # images whose maps are compared with those of moved images


def get_figure():
    table = hsvit_table3.get_table()
    (row,) = choose_rows(table, ["hsvit_c2a2"])
    table = dataclasses.replace(
        table,
        title="HSViT, Figure 4",
        rows=(dataclasses.replace(row, accuracy={_DATA: row.accuracy[_DATA]}),),
        recipes={_DATA: table.recipes[_DATA]},
    )
    return PaperFigure(table, draw=_draw, measure=_measure)


def _measure(trained):
    from hsvit_keras.model_files import load_model

    cell, run = trained.runs()[0]
    model = load_model(run.model)
    pictures, labels = trained.images(cell, run, _IMAGES)
    moved = moving.moved(pictures[-1:], attention_maps.map_shape(model))
    pictures = np.concatenate([pictures, *moved.values()])
    maps = attention_maps.feature_maps(model, pictures)
    kernels = attention_maps.chosen_kernels(maps, attention_maps.class_attention(model, pictures), _GROUPS)
    kernels[_IMAGES:] = kernels[_IMAGES - 1]
    compared, _ = trained.images(cell, run, _COMPARED)
    names = cell.source.train_set.class_names
    labels = [str(names[label]) for label in labels]
    return {
        "model": str(run.model),
        "images": labels + [f"{labels[-1]}, {name}" for name in moved],
        "kernels": kernels.tolist(),
        "agreement": moving.agreement(lambda images: attention_maps.feature_maps(model, images), compared),
        "pictures": pictures,
        "maps": attention_maps.maps_of(maps, kernels),
    }


def _draw(numbers):
    captions = [f"{letter}: {text}" for letter, text in zip("ABCDE", numbers["images"], strict=True)]
    return attention_maps.figure_of(
        numbers["pictures"], captions, numbers["maps"], np.array(numbers["kernels"])
    )
