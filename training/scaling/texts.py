"""Costs as text."""


def cost_text(value):
    """A cost with four digits, or as a whole number from a thousand on."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"
