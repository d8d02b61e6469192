"""Bundles of models and data for the Android app."""
