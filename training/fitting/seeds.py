"""The random states of Keras layers, so that they can be set instead of carried along.

Keras does not save them with a model. Whoever sets them from (seed, position) before each use gets the same
random numbers in an unbroken run and in one that was killed and started again.
"""


def seed_states(layer):
    """The state variables of all random generators in a layer or model, in a fixed order."""
    return [variable for variable in layer.variables if variable.name == "seed_generator_state"]


def draw_states(states, rng):
    """New values for `states`: a list of integer arrays `(2,)` of their dtypes.

    Args:
        states: list of variables from `seed_states`.
        rng: `numpy.random.Generator`.
    """
    return [rng.integers(2**31, size=2).astype(state.dtype) for state in states]
