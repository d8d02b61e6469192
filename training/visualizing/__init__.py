"""Figures of papers, and pictures of what a model computes."""
