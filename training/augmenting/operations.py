"""What AutoAugment and its descendants do to one image, by Pillow.

Why Pillow, for each image, and no arrays of whole batches: it is what the programs of the papers call, so
that the pixels are theirs; only the operation that was drawn is computed; the threads of the pipeline share
the work, as Pillow lets others run; nothing is compiled; and TensorFlow and JAX get the same bits.
"""

from PIL import Image, ImageEnhance, ImageOps

# Those that move pixels: masks move with their images. Each takes what is drawn, how pixels in between are
# found and the value of those that come from outside.


def shear_x(image, slope, resample, fill):
    return _affine(image, (1, slope, 0, 0, 1, 0), resample, fill)


def shear_y(image, slope, resample, fill):
    return _affine(image, (1, 0, 0, slope, 1, 0), resample, fill)


def translate_x(image, pixels, resample, fill):
    return _affine(image, (1, 0, pixels, 0, 1, 0), resample, fill)


def translate_y(image, pixels, resample, fill):
    return _affine(image, (1, 0, 0, 0, 1, pixels), resample, fill)


def rotate(image, degrees, resample, fill):
    return image.rotate(degrees, resample, fillcolor=fill)


MOVING = {
    "ShearX": shear_x,
    "ShearY": shear_y,
    "TranslateX": translate_x,
    "TranslateY": translate_y,
    "Rotate": rotate,
}


# Those that change values. Factors are given by how far they are from 1, which changes nothing.


def brightness(image, change):
    return ImageEnhance.Brightness(image).enhance(1 + change)


def color(image, change):
    return ImageEnhance.Color(image).enhance(1 + change)


def contrast(image, change):
    return ImageEnhance.Contrast(image).enhance(1 + change)


def sharpness(image, change):
    return ImageEnhance.Sharpness(image).enhance(1 + change)


def posterize(image, bits):
    """Keeps the highest bits; none, which Pillow's own function refuses, leave black."""
    return _by_table(image, [value & -(1 << 8 - bits) for value in range(256)])


def solarize(image, threshold):
    return ImageOps.solarize(image, threshold)


def solarize_add(image, addend):
    """Makes the darker half of the values brighter."""
    return _by_table(image, [min(255, value + addend) if value < 128 else value for value in range(256)])


VALUES = {
    "Identity": lambda image, _: image,
    "Brightness": brightness,
    "Color": color,
    "Contrast": contrast,
    "Sharpness": sharpness,
    "Posterize": posterize,
    "Solarize": solarize,
    "SolarizeAdd": solarize_add,
    "AutoContrast": lambda image, _: ImageOps.autocontrast(image),
    "Equalize": lambda image, _: ImageOps.equalize(image),
    "Invert": lambda image, _: ImageOps.invert(image),
}


def _affine(image, matrix, resample, fill):
    """Pixel (x, y) comes from (a x + b y + c, d x + e y + f)."""
    return image.transform(image.size, Image.Transform.AFFINE, matrix, resample, fillcolor=fill)


def _by_table(image, table):
    """Replaces each value by that at its place in the table."""
    return image.point(table * len(image.getbands()))
