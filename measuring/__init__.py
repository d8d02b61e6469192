"""Latency of models side by side, the machine it was measured on, and the report of it."""
