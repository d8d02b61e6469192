"""What one inference costs on an ARM core, counted without an ARM machine.

LiteRT's own library for 64-bit ARM runs under an emulator that reports the processor of a phone, so that
XNNPACK chooses the kernels that it would choose there. A plugin of the emulator counts the instructions.
Counts are not times, since caches, memory and clock rates are not emulated; ratios of similar models are the
best use of them.

- `toolchain.py`: finds the compilers and the emulator, fetches the library, builds `counter.c` and `runner.c`
- `emulation.py`: runs a model on an emulated core
- `counting.py`: counts the instructions of one model, or of several to compare
- `table.py`: the comparison as text
- `cores.json`: the cores; each an emulated processor and the /proc/cpuinfo that goes with it
"""

from measuring.arm_cost.counting import instructions as instructions
