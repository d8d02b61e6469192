import os
import time

from measuring import device

X86 = """processor\t: 0
vendor_id\t: GenuineIntel
model name\t: Some CPU @ 2.00GHz
flags\t\t: fpu sse2 avx fma avx2 avx512f avx512_vnni amx_int8 hypervisor

processor\t: 1
model name\t: Another CPU
flags\t\t: fpu
"""
ARM = """processor\t: 0
BogoMIPS\t: 38.40
Features\t: fp asimd evtstrm aes asimdhp asimddp i8mm bf16
CPU implementer\t: 0x41
CPU part\t: 0xd47
"""


def test_cpu_of_a_pc(tmp_path):
    (tmp_path / "cpuinfo").write_text(X86)
    cpu = device.cpu(tmp_path / "cpuinfo")
    assert cpu["name"] == "Some CPU @ 2.00GHz"
    assert cpu["features"] == ["avx", "fma", "avx2", "avx512f", "avx512_vnni", "amx_int8"]
    assert cpu["logical_cores"] == os.cpu_count()


def test_cpu_of_a_phone(tmp_path):
    (tmp_path / "cpuinfo").write_text(ARM)
    cpu = device.cpu(tmp_path / "cpuinfo")
    assert cpu["name"] == "cpu implementer 0x41, cpu part 0xd47"
    assert cpu["features"] == ["asimd", "asimdhp", "asimddp", "i8mm", "bf16"]


def test_cpu_of_a_system_that_does_not_tell(tmp_path):
    cpu = device.cpu(tmp_path / "missing")
    assert cpu["name"]
    assert cpu["features"] is None


def test_other_load_counts_what_this_process_did_not_do(tmp_path, monkeypatch):
    clock = {"wall": 100.0, "own": 5.0}
    monkeypatch.setattr(time, "perf_counter", lambda: clock["wall"])
    monkeypatch.setattr(time, "process_time", lambda: clock["own"])
    tick = 1 / os.sysconf("SC_CLK_TCK")
    stat = tmp_path / "stat"

    def write(user, nice, system, idle, iowait, irq, softirq, steal):
        fields = [user, nice, system, idle, iowait, irq, softirq, steal, 7, 7]
        stat.write_text("cpu  " + " ".join(str(round(f / tick)) for f in fields) + "\ncpu0 1 2 3\n")

    write(10, 0, 2, 500, 3, 0, 0, 1)
    load = device.OtherLoad(stat)
    clock |= {"wall": 110.0, "own": 11.0}
    # In ten seconds, 14 CPU seconds of work, 6 of them our own; idling and waiting for disks are none.
    write(18, 1, 4, 504, 9, 0.5, 0.5, 3)
    assert abs(load.cores() - 0.8) < 1e-6


def test_other_load_is_never_negative(tmp_path, monkeypatch):
    clock = {"wall": 0.0, "own": 0.0}
    monkeypatch.setattr(time, "perf_counter", lambda: clock["wall"])
    monkeypatch.setattr(time, "process_time", lambda: clock["own"])
    (tmp_path / "stat").write_text("cpu  10 0 0 10 0 0 0 0 0 0\n")
    load = device.OtherLoad(tmp_path / "stat")
    clock |= {"wall": 1.0, "own": 0.5}
    assert load.cores() == 0.0


def test_other_load_is_unknown_without_proc(tmp_path):
    assert device.OtherLoad(tmp_path / "missing").cores() is None
