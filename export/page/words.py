"""What the sections call devices and runtimes."""


def device_name(report):
    device = report["device"]
    return device["name"] or device["cpu"]["name"] or "an unnamed device"


def runtimes(report):
    names = dict.fromkeys(model["runtime"]["name"] for model in report["models"])
    threads = report["settings"]["threads"]
    counted = f"{threads} thread{'s' if threads > 1 else ''}" if threads else "unknown threads"
    return f"{' against '.join(names)}, {counted}"
