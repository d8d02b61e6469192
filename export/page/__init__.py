"""The page of a run: its folder read, its plots drawn, its HTML filled in."""
