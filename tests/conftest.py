"""What every test starts from."""

import random

import pytest


@pytest.fixture(autouse=True)
def same_initial_weights():
    """Keras takes the seeds of initial weights from Python's own generator."""
    random.seed(0)
