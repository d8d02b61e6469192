"""Latencies and answers of models on this machine, and the report that holds them."""
