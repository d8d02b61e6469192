"""Some of the tokens, cut out in a way that phones accelerate."""

from keras import ops


def token_range(tokens, start, stop):
    """Tokens `start` to `stop`, the last one excluded.

    Where the batch is fixed (in a graph made for a phone) this is one SLICE: indexing would become a
    STRIDED_SLICE.
    """
    if tokens.shape[0] is None:
        return tokens[:, start:stop]
    begin = (0, start) + (0,) * (len(tokens.shape) - 2)
    return ops.slice(tokens, begin, (tokens.shape[0], stop - start, *tokens.shape[2:]))


def last_tokens(tokens, count):
    """The last `count` tokens."""
    total = tokens.shape[1]
    return tokens if count == total else token_range(tokens, total - count, total)
