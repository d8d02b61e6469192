"""Hardware-aware scaling: the best shape of a transformer for what it may cost on a device.

An Investigation on Hardware-Aware Vision Transformer Scaling, for any family and any cost:

- `factors.py`: what can be scaled in a family, from where and how far
- `greedy.py`, `permutation.py`: the search as logic alone; `search.py`: with real costs and trials
- `costs.py`, `breakdown.py`: what a model costs on a target, and what in it costs that
- `trials.py`: trainings in processes side by side, each configuration once
- `transfer.py`, `rank.py`: carrying a strategy to another family; whether two costs rank models alike
- `plots.py`, `records.py`: the frontier; files that only grow
"""
