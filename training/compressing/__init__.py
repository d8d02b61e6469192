"""Chains of compression steps."""
