"""Trainings spread over processes and machines, by Ray."""
