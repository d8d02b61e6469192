"""What one inference costs on an ARM core, counted without an ARM machine.

LiteRT's own library for 64-bit ARM runs under an emulator that shows it the processor of a phone, so that
XNNPACK chooses the kernels that it would choose there. A plugin of the emulator counts the instructions.
They are no time: there are no caches, no memory and no clock in it. Ratios of like models carry over best.

- `toolchain.py`: the compilers and the emulator, the library, and what is built of `counter.c` and `runner.c`
- `emulation.py`: the phone that the library is made to see
- `counting.py`: counts and how they compare
- `cores.json`: the cores; each an emulated processor and the /proc/cpuinfo that goes with it
"""

from measuring.arm_cost.counting import instructions as instructions
