"""Facts about this machine that latencies depend on, in the fields of a phone's report.

What only a phone knows (thermal state, battery) is None here.
"""

import datetime
import os
import pathlib
import platform
import time

# XNNPACK chooses its kernels by these: vector width, fused multiply-add, int8 dot products, half floats.
FEATURES = (
    *("avx", "fma", "avx2", "avx512f", "avx512bw", "avx512_vnni", "avx_vnni", "avx512_fp16", "amx_int8"),
    *("asimd", "asimdhp", "asimddp", "i8mm", "bf16", "sve", "sve2", "sme"),
)


def describe():
    """dict, the `device` block of a report without the parts that may change while measuring."""
    return {
        "name": None,
        "cpu": cpu(pathlib.Path("/proc/cpuinfo")),
        "os": {"name": platform.system(), "version": platform.release(), "api_level": None},
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
    }


def cpu(cpuinfo):
    """Name, architecture, cores and features of the CPU.

    Args:
        cpuinfo: path of a file like Linux' /proc/cpuinfo; may be missing.

    Returns:
        dict. `features` holds those of `FEATURES` that the CPU has, None where they are not known.
    """
    fields = {}
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            key, _, value = line.partition(":")
            fields.setdefault(key.strip().lower(), value.strip())
    flags = fields.get("flags", fields.get("features"))
    parts = [f"{key} {fields[key]}" for key in ("cpu implementer", "cpu part") if key in fields]
    return {
        "name": fields.get("model name") or ", ".join(parts) or platform.processor() or platform.machine(),
        "architecture": platform.machine(),
        "logical_cores": os.cpu_count(),
        "features": None if flags is None else [name for name in FEATURES if name in flags.split()],
    }


def state():
    """What changes while measuring: dict, the `before` or `after` of a report's device."""
    return {
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "load_average": os.getloadavg()[0],
        "thermal_status": None,
        "thermal_headroom": None,
        "battery_percent": None,
        "charging": None,
        "power_save": None,
    }


class OtherLoad:
    """CPU cores that other processes kept busy since this was made; unknown without Linux' /proc."""

    def __init__(self, stat=pathlib.Path("/proc/stat")):
        self._stat = stat
        self._start = self._read()

    def _read(self):
        if not self._stat.exists():
            return None
        # user nice system idle iowait irq softirq steal guest...: all but idling, and guest is in user
        ticks = [int(field) for field in self._stat.read_text().split("\n", 1)[0].split()[1:9]]
        busy = (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")
        return time.perf_counter(), busy - time.process_time()

    def cores(self):
        """Average number of busy cores, a float of at least 0, or None where it is unknown."""
        if self._start is None:
            return None
        (start, others_then), (end, others_now) = self._start, self._read()
        return max(0.0, others_now - others_then) / (end - start)
