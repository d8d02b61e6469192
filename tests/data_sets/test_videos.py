"""Video files, made by PyAV: frames by time, upright, and what is said of damaged ones."""

import fractions
import itertools

import av
import numpy as np
import pytest

from data_sets import batches, load_dataset
from data_sets.clips import resized_clip
from data_sets.crops import CentreCrop, RandomShorterSide
from data_sets.dataset import ImageDataset
from data_sets.videos import VideoFiles, read_clip

pytestmark = pytest.mark.once

HEIGHT, WIDTH = 32, 48


def grey_level(number):
    """The grey of a frame, by which the test tells which one was chosen."""
    return 40 + 10 * number


def write_video(path, times, frame=None, rotation=None, size=(HEIGHT, WIDTH), gop=12):
    """Writes frames shown at times in milliseconds; the last of `times` is where the video ends."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=25)
        stream.height, stream.width = size
        stream.pix_fmt, stream.gop_size, stream.max_b_frames, stream.bit_rate = "yuv420p", gop, 0, 2_000_000
        stream.codec_context.time_base = stream.time_base = fractions.Fraction(1, 1000)
        if rotation is not None:
            stream.set_display_rotation(rotation)
        for number, (time, following) in enumerate(itertools.pairwise(times)):
            pixels = np.full((*size, 3), grey_level(number), np.uint8) if frame is None else frame
            picture = av.VideoFrame.from_ndarray(pixels, format="rgb24")
            picture.pts, picture.time_base = time, fractions.Fraction(1, 1000)
            for packet in stream.encode(picture):
                packet.duration = following - time
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)
    return path


def numbers(frames):
    """Which frames of `write_video` these are."""
    return [round((np.asarray(frame).mean() - 40) / 10) for frame in frames]


@pytest.fixture(scope="module")
def even(tmp_path_factory):
    """Two seconds of ten frames a second."""
    return write_video(tmp_path_factory.mktemp("videos") / "even.mp4", range(0, 2001, 100))


def test_frames_from_the_middle(even):
    """0.8 of 2 s: the clip begins at 0.6 s, and a frame is shown until the next one begins."""
    assert numbers(read_clip(even, 4, 0.2)) == [6, 8, 10, 12]
    assert numbers(read_clip(even, 4, 0.05)) == [9, 9, 10, 10]


def test_a_random_clip_begins_anywhere(even):
    starts = set()
    for seed in range(20):
        found = numbers(read_clip(even, 3, 0.2, np.random.default_rng(seed)))
        assert np.diff(found).tolist() == [2, 2]
        starts.add(found[0])
    assert min(starts) <= 3 and max(starts) >= 11 and max(starts) <= 14


def test_a_varying_rate_is_read_by_time(tmp_path):
    """Ten frames in the first second and two in the next: at equal times, not at equal counts."""
    path = write_video(tmp_path / "varying.mp4", [*range(0, 1000, 100), 1000, 1500, 2000])
    assert numbers(read_clip(path, 8, 0.25)) == [0, 2, 5, 7, 10, 10, 11, 11]


def test_a_short_video_ends_with_its_last_frame(tmp_path):
    path = write_video(tmp_path / "short.mp4", range(0, 301, 100))
    assert numbers(read_clip(path, 5, 0.1)) == [0, 1, 2, 2, 2]


@pytest.mark.parametrize("rotation", [0, 90, 180, -90])
def test_a_turned_video_is_shown_upright(rotation, tmp_path):
    """PyAV writes by how many degrees to the left a player has to turn the picture."""
    stored = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    stored[: HEIGHT // 2, : WIDTH // 2] = 255  # light in the upper left corner alone
    path = write_video(tmp_path / "turned.mp4", range(0, 301, 100), stored, rotation)
    (shown,) = read_clip(path, 1, 0.1)
    expected = np.rot90(stored, rotation // 90)
    assert np.asarray(shown).shape == expected.shape
    assert np.abs(np.asarray(shown).astype(int) - expected).mean() < 15


def test_a_mirrored_video_is_shown_as_it_was(tmp_path):
    stored = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    stored[: HEIGHT // 2, : WIDTH // 2] = 255
    path = tmp_path / "mirrored.mp4"
    write_video(path, range(0, 301, 100), stored, 0)
    content = bytearray(path.read_bytes())
    matrix = content.index(b"tkhd") + 4 + 40  # version 0: its matrix stands 40 bytes behind
    assert content[matrix : matrix + 4] == b"\0\1\0\0"
    content[matrix : matrix + 4] = (-65536).to_bytes(4, "big", signed=True)
    path.write_bytes(content)
    (shown,) = read_clip(path, 1, 0.1)
    assert np.abs(np.asarray(shown).astype(int) - stored[:, ::-1]).mean() < 15


def noise(number):
    return np.random.default_rng(number).integers(0, 256, (HEIGHT, WIDTH, 3)).astype(np.uint8)


def test_damaged_files_are_named(even, tmp_path):
    whole = even.read_bytes()
    data = whole.index(b"mdat")
    index = whole.index(b"moov")
    cases = {"empty": b"", "text": b"no video at all" * 100, "without_index": whole[: index - 4]}
    cases["frames"] = whole[: data + 60] + bytes(200) + whole[data + 260 :]
    for name, content in cases.items():
        path = tmp_path / f"{name}.mp4"
        path.write_bytes(content)
        with pytest.raises(OSError, match=f"cannot read the video .*{name}.mp4: "):
            read_clip(path, 8, 0.25)
    with pytest.raises(OSError, match=r"cannot read the video .*missing\.mp4: .*No such file"):
        read_clip(tmp_path / "missing.mp4", 8, 0.25)


def test_a_file_that_ends_early_is_named(tmp_path):
    """As a download that broke off, of a file whose index stands in front."""
    path, early = tmp_path / "whole.mp4", tmp_path / "early.mp4"
    with av.open(str(path), "w", options={"movflags": "faststart"}) as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.height, stream.width, stream.pix_fmt = HEIGHT, WIDTH, "yuv420p"
        for number in range(30):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(noise(number), format="rgb24")))
        container.mux(stream.encode())
    assert len(read_clip(path, 8, 0.35)) == 8
    content = path.read_bytes()
    early.write_bytes(content[: len(content) // 2])
    with pytest.raises(OSError, match=r"cannot read the video .*early\.mp4: "):
        read_clip(early, 8, 0.35)


def test_a_file_without_video_is_named(tmp_path):
    path = tmp_path / "sound.wav"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=8000)
        sound = av.AudioFrame.from_ndarray(np.zeros((1, 800), np.int16), format="s16", layout="mono")
        sound.rate = 8000
        container.mux(stream.encode(sound))
    with pytest.raises(OSError, match=r"sound\.wav: it has no video"):
        read_clip(path, 8, 0.25)


def test_a_clip_is_cut_out_alike_and_resized(tmp_path):
    """A grey ramp to the right: each frame shows where it was cut out."""
    ramp = np.broadcast_to(np.linspace(0, 235, 96, dtype=np.uint8)[None, :, None], (32, 96, 3)).copy()
    path = write_video(tmp_path / "ramp.mp4", range(0, 1001, 100), ramp, size=(32, 96))
    files = VideoFiles([path], stride=3)
    centre = resized_clip(files, 0, (4, 16, 16, 1))
    assert centre.shape == (4, 16, 16, 1)
    # The middle third of the ramp, whatever the frame.
    np.testing.assert_allclose(centre.mean((0, 1, 3)), np.linspace(80, 155, 16), atol=6)
    assert np.abs(centre - centre[:1].astype(int)).max() <= 8
    crop = RandomShorterSide((16, 32))
    parts = [resized_clip(files, 0, (4, 16, 16, 3), crop, np.random.default_rng(i)) for i in range(8)]
    assert all(np.abs(part - part[:1].astype(int)).max() <= 8 for part in parts)
    assert np.ptp([part.mean() for part in parts]) > 40


def test_random_shorter_side():
    crop, rng = RandomShorterSide((256, 320)), np.random.default_rng(0)
    for size in ((340, 256), (1280, 720), (480, 640)):
        boxes = np.array([crop.box(size, (224, 224), rng=rng) for _ in range(300)])
        sides = boxes[:, 2:] - boxes[:, :2]
        np.testing.assert_allclose(sides[:, 0], sides[:, 1])
        shorter = 224 / sides[:, 0] * min(size)  # of the resized image
        assert 256 <= shorter.min() < 262 and 314 < shorter.max() <= 320
        assert boxes.min() >= 0 and (boxes[:, 2:] <= np.array(size) + 1e-9).all()
        assert boxes[:, 0].min() < 0.02 * size[0] and boxes[:, 2].max() > 0.98 * size[0]
    left, _, right, _ = RandomShorterSide((100, 100)).box((100, 300), (224, 100), rng=rng)
    assert (left, right) == (0, 100)  # never more than there is


def test_clips_of_arrays_are_stretched():
    clips = np.arange(6, dtype=np.uint8)[None, :, None, None, None] * np.ones((1, 1, 4, 4, 1), np.uint8) * 10
    assert resized_clip(clips, 0, (3, 2, 2, 3))[:, 0, 0, 0].tolist() == [0, 20, 40]
    assert resized_clip(clips, 0, (12, 4, 4, 1))[:, 0, 0, 0].tolist() == [10 * (i // 2) for i in range(12)]
    assert resized_clip(clips, 0, (6, 4, 4, 1), CentreCrop(0.5)).shape == (6, 4, 4, 1)


def test_batches_of_clips():
    clips = np.random.default_rng(0).integers(0, 256, (5, 4, 6, 8, 1)).astype(np.uint8)
    labels = np.arange(5, dtype=np.int32)
    dataset = ImageDataset("small", "train", tuple("abcde"), (4, 6, 8, 1), clips, labels)
    made = list(batches(dataset, batch_size=2, image_shape=(4, 6, 8, 1)))
    np.testing.assert_array_equal(np.concatenate([images for images, _ in made]), clips)
    with pytest.raises(ValueError, match=r"image_shape=\(6, 8, 1\) must be \(frames, height, width"):
        batches(dataset, batch_size=2, image_shape=(6, 8, 1))
    digits = load_dataset("digits", "test")
    with pytest.raises(ValueError, match=r"image_shape=\(4, 6, 8, 1\) must be \(height, width, channels"):
        batches(digits, batch_size=2, image_shape=(4, 6, 8, 1))
