"""How attention splits tokens into heads and joins them again, and its softmax."""

from keras import ops

from hsvit_runtime.errors import InputError


def split_heads(tokens, num_heads):
    """`(batch, tokens, [groups,] dim)` to `(batch, groups * num_heads, tokens, dim / num_heads)`.

    Groups and heads share one axis, so that no tensor has more than four.
    """
    _, count, *groups, dim = tokens.shape
    heads = num_heads * (groups[0] if groups else 1)
    return ops.transpose(ops.reshape(tokens, (-1, count, heads, dim // num_heads)), (0, 2, 1, 3))


def join_heads(heads, shape):
    """The inverse of `split_heads`: back to tokens of `shape`, of any batch size."""
    return ops.reshape(ops.transpose(heads, (0, 2, 1, 3)), (-1, *shape[1:]))


def transposed(heads):
    """`(batch, heads, tokens, dim)` to `(batch, heads, dim, tokens)`."""
    return ops.transpose(heads, (0, 1, 3, 2))


def check_heads(num_heads, dim):
    """Raises `ValueError` unless `num_heads` divides `dim`."""
    if dim % num_heads:
        raise InputError(
            f"num_heads has to divide the dim of query, key and value; "
            f"received num_heads={num_heads}, dim={dim}"
        )


def softmax(scores):
    """Softmax over the last axis; Keras' own warns where that has one entry, whose softmax is 1."""
    return scores * 0 + 1 if scores.shape[-1] == 1 else ops.softmax(scores)
