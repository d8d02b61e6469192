"""Training throughput."""
