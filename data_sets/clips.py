"""From a video or an array to a clip of the frames, size and channels asked for."""

import numpy as np
from PIL import Image

from data_sets.crops import CENTRE
from data_sets.images import MODES
from data_sets.videos import VideoFiles


def resized_clip(clips, index, clip_shape, crop=CENTRE, rng=None):
    """One clip at a given size, of which all frames are cut out at the same place.

    A video file keeps its aspect and its pace, see `VideoFiles`. A clip of an array is stretched to the size,
    and its frames are repeated or left out evenly.

    Args:
        clips: uint8 array (N, frames, H, W, C), or a `VideoFiles`.
        index: which of them.
        clip_shape: (frames, height, width, channels).
        crop: a crop of `data_sets.crops`; if it is random, the part of a video is random in time, too.
        rng: `numpy.random.Generator` of a random crop.

    Returns:
        uint8 array of shape `clip_shape`.

    Raises:
        OSError: the file cannot be read as a video.
    """
    count, height, width, channels = clip_shape
    target = width, height
    if keeps_aspect := isinstance(clips, VideoFiles):
        frames = clips.clip(index, count, rng if crop.is_random else None)
    else:
        chosen = np.arange(count) * len(clips[index]) // count
        frames = [_image(pixels) for pixels in clips[index][chosen]]
    box = crop.box(frames[0].size, target, keeps_aspect=keeps_aspect, rng=rng)
    made = [np.asarray(crop.pixels(frame, box, target).convert(MODES[channels])) for frame in frames]
    return np.stack(made).reshape(clip_shape)


def _image(pixels):
    return Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels)
