"""From a video file to the frames of a clip, as a player shows them.

Frames are chosen by time, not by count, so that clips of files with any frame rate, also a varying one, have
one pace. Turned recordings are turned upright. Decoded is what stands between the key frame in front of the
clip and the clip's end.
"""

import contextlib
from collections.abc import Sequence

import numpy as np
from PIL import Image

from hsvit_runtime import input_files
from hsvit_runtime.errors import FileError, InputError, MissingPackageError

# What "one of 32 frames" is counted in, whatever the rate of a file; Kinetics' videos have about this.
_FRAMES_A_SECOND = 30
# A file may end so many seconds before the end that it states; if it ends earlier, a part of it is missing.
_SPARE = 0.5
_FIXED_POINT = 2.0**16  # of a display matrix


class VideoFiles(Sequence):
    """Video files as a sequence of clips, uint8 arrays (frames, H, W, 3), decoded when they are asked for.

    Args:
        paths: list of paths.
        frames: int, of the clips that indexing gives, which are from the middle of a file.
        stride: int, one of so many frames is taken, counted at 30 frames a second.
    """

    def __init__(self, paths, frames=8, stride=32):
        self.paths, self.frames, self.stride = paths, frames, stride

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return np.stack([np.asarray(frame) for frame in self.clip(index, self.frames)])

    def clip(self, index, frames, rng=None):
        """A clip as a list of Pillow images, RGB.

        Args:
            index: int, which file.
            frames: int, of the clip.
            rng: `numpy.random.Generator` that draws where the clip begins; None for the middle.

        Raises:
            OSError: the file is missing or damaged, or has no video.
        """
        return read_clip(self.paths[index], frames, self.stride / _FRAMES_A_SECOND, rng)

    def subset(self, positions):
        """The files at some positions."""
        return VideoFiles([self.paths[position] for position in positions], self.frames, self.stride)


def read_clip(path, count, step, rng=None):
    """Frames of a video at equal distances in time.

    A video that is shorter than the clip is followed by its last frame.

    Args:
        path: path of the file.
        count: int, how many frames.
        step: float, seconds from one to the next.
        rng: `numpy.random.Generator` that draws where the clip begins; None for the middle.

    Returns:
        list of Pillow images, RGB, upright.

    Raises:
        OSError: the file is missing or damaged, ends before the clip does, or has no video.
    """
    with _opened(path) as (container, stream):
        duration = _duration(container, stream)
        room = max(duration - count * step, 0.0)
        start = room / 2 if rng is None else rng.uniform(0, room)
        times = [start + step * i for i in range(count)]
        shown, end = _shown_at(times, container, stream)
        needed = min(times[-1], duration)
        if end < needed - _SPARE:
            raise InputError(f"it ends after {end:.1f} of its {duration:.1f} seconds")
        return [_upright(frame) for frame in shown]


@contextlib.contextmanager
def _opened(path):
    """Opens a video; raises an error that names the file, whatever its decoder raises."""
    try:
        import av
    except ImportError as error:
        raise MissingPackageError('videos need the package av: pip install "hsvit-keras[video]"') from error
    try:
        if reason := input_files.why_not(path, "video"):
            raise FileError(reason)
        with av.open(str(path)) as container:
            if not container.streams.video:
                raise InputError("it has no video")
            stream = container.streams.video[0]
            # Damaged frames are not to be made up from their neighbours.
            stream.codec_context.options = {"err_detect": "explode"}
            yield container, stream
    except Exception as error:  # decoders of damaged files raise nearly anything
        raise FileError(f"cannot read the video {path}: {error}") from error


def _duration(container, stream):
    """Seconds of a video; 0 where the file does not tell, so that its clip begins with it."""
    if stream.duration is not None:
        return float(stream.duration * stream.time_base)
    return (container.duration or 0) / 1e6


def _shown_at(times, container, stream):
    """The frames that are shown at rising times, and the time at which the last of them ends."""
    first = stream.start_time or 0
    if times[0] > 0:
        container.seek(first + int(times[0] / stream.time_base), stream=stream)
    shown, current, end = [], None, 0.0
    for frame in container.decode(stream):
        if frame.is_corrupt:
            raise InputError(f"the frame at {float(frame.time or 0):.1f} seconds is damaged")
        begin = float((frame.pts - first) * stream.time_base)
        # A frame is shown until the next one; pts are rounded to the file's time base.
        while current is not None and len(shown) < len(times) and times[len(shown)] < begin - 1e-6:
            shown.append(current)
        if len(shown) == len(times):
            break
        current, end = frame, begin + float((frame.duration or 0) * stream.time_base)
    if current is None:
        raise InputError("no frame of it can be decoded")
    return shown + [current] * (len(times) - len(shown)), end


def _upright(frame):
    """A frame as it is to be shown: its display matrix is applied, to the nearest of the right angles."""
    image = Image.fromarray(frame.to_ndarray(format="rgb24"))
    matrix = _display_matrix(frame)
    if matrix is None:
        return image
    # Columns are where a step to the right and one down of the stored picture lead to on the screen.
    (a, b), (c, d) = np.rint(matrix / max(np.abs(matrix).max(), 1e-9)).astype(int)
    turns = {
        (1, 0, 0, 1): None,
        (-1, 0, 0, 1): Image.Transpose.FLIP_LEFT_RIGHT,
        (1, 0, 0, -1): Image.Transpose.FLIP_TOP_BOTTOM,
        (-1, 0, 0, -1): Image.Transpose.ROTATE_180,
        (0, 1, -1, 0): Image.Transpose.ROTATE_270,
        (0, -1, 1, 0): Image.Transpose.ROTATE_90,
        (0, 1, 1, 0): Image.Transpose.TRANSPOSE,
        (0, -1, -1, 0): Image.Transpose.TRANSVERSE,
    }
    turn = turns.get((a, b, c, d))
    return image if turn is None else image.transpose(turn)


def _display_matrix(frame):
    """[[a, b], [c, d]], which shows a point (x, y) at (a x + c y, b x + d y); None where there is none."""
    found = frame.side_data.get("DISPLAYMATRIX")
    if found is None:
        return None
    return np.frombuffer(bytes(found), np.int32).reshape(3, 3)[:2, :2] / _FIXED_POINT
