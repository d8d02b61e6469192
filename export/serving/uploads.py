"""Decodes an image file that a client sent: of two formats, and no larger than a server can afford."""

import io

from PIL import Image

from data_sets.images import ImageFiles, resized

FORMATS = {"image/png": "PNG", "image/jpeg": "JPEG"}


class RefusedError(ValueError):
    """The request is refused.

    Attributes:
        status: int, the HTTP status of the response; with 503 a client may try again.
    """

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def decode(content, image_shape, most_pixels):
    """Decodes an image and resizes it to the model's input, as training does with image files.

    Args:
        content: bytes of a PNG or JPEG file.
        image_shape: (height, width, channels).
        most_pixels: int, of an image that is decoded.

    Returns:
        uint8 array of shape `image_shape`.

    Raises:
        RefusedError: it is no PNG or JPEG file, is damaged, or has too many pixels.
    """
    try:
        with Image.open(io.BytesIO(content), formats=tuple(FORMATS.values())) as image:
            width, height = image.size
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise RefusedError(413, f"the image has more than {most_pixels:,} pixels") from None
    except Exception as error:  # decoders of damaged files raise nearly anything
        raise RefusedError(400, "the body is no PNG or JPEG image, or is damaged") from error
    if width * height > most_pixels:
        raise RefusedError(413, f"the image has {width} x {height} pixels, more than {most_pixels:,}")
    try:
        return resized(ImageFiles([io.BytesIO(content)]), 0, image_shape)
    except OSError as error:
        raise RefusedError(400, f"the image is damaged: {error.__cause__}") from error
