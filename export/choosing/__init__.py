"""Which of several models to take: their artifacts, what those cost and are worth, and the Pareto front."""
