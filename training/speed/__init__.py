"""Throughput of training and of the data pipeline."""
