import numpy as np

from hsvit_runtime.pixels import in_range


def test_pixels_of_0_to_255_stay_as_they_are():
    pixels = np.arange(256, dtype="uint8")
    mapped = in_range(pixels, (0, 255))
    assert mapped.dtype == "float32"
    np.testing.assert_array_equal(mapped, pixels)


def test_black_and_white_become_the_ends_of_the_range():
    for low, high in ((0, 1), (-1, 1), (-0.4242, 2.8215)):
        mapped = in_range([[0, 255]], (low, high))
        np.testing.assert_allclose(mapped, [[low, high]], rtol=2e-7)


def test_grey_is_linear():
    np.testing.assert_allclose(in_range([51, 102], (-1, 1)), [-0.6, -0.2], rtol=1e-6)
