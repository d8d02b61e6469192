"""Writes LiteRT's objects of a model as the content of a .tflite file."""

import flatbuffers

_BYTES_ALIGNMENT = 16  # of a buffer's data in LiteRT's schema, which the Python classes leave out


class _Builder(flatbuffers.Builder):
    """Puts byte vectors, such as weights, at multiples of 16 bytes, where kernels may read them in place."""

    def StartVector(self, elemSize, numElems, alignment):  # noqa: N802, N803
        return super().StartVector(elemSize, numElems, _BYTES_ALIGNMENT if elemSize == 1 else alignment)


def pack(model):
    """The content of a `.tflite` file.

    Args:
        model: `ModelT` of LiteRT's schema.

    Returns:
        bytes.
    """
    builder = _Builder(1024)
    builder.Finish(model.Pack(builder), file_identifier=b"TFL3")
    return bytes(builder.Output())
