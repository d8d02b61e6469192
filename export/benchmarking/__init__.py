"""Models measured side by side on this machine."""
