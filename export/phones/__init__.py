"""How the computer talks to a phone: through adb, to the benchmark app."""
