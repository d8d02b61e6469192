"""Serializes a model, given as objects of LiteRT's schema, to the content of a .tflite file."""

import flatbuffers

# Alignment of a buffer's data. LiteRT's schema asks for it, the generated Python classes ignore it.
_BYTES_ALIGNMENT = 16


class _Builder(flatbuffers.Builder):
    """Aligns byte vectors, such as weights, to 16 bytes, so that kernels can read them without a copy."""

    def StartVector(self, elemSize, numElems, alignment):  # noqa: N802, N803
        return super().StartVector(elemSize, numElems, _BYTES_ALIGNMENT if elemSize == 1 else alignment)


def pack(model):
    """Serializes a model.

    Args:
        model: `ModelT` of LiteRT's schema.

    Returns:
        bytes of a `.tflite` file.
    """
    builder = _Builder(1024)
    builder.Finish(model.Pack(builder), file_identifier=b"TFL3")
    return bytes(builder.Output())
