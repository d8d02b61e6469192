package org.hsvit.benchmark.apk;

import com.github.unidbg.Emulator;
import com.github.unidbg.Svc;
import com.github.unidbg.arm.Arm64Svc;
import com.github.unidbg.arm.ArmSvc;
import com.github.unidbg.arm.backend.Backend;
import com.github.unidbg.arm.context.RegisterContext;
import com.github.unidbg.hook.HookListener;
import com.github.unidbg.linux.android.AndroidEmulatorBuilder;
import com.github.unidbg.memory.SvcMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.ToLongFunction;
import unicorn.Arm64Const;
import unicorn.ArmConst;

/** What 64-bit and 32-bit code differ in: an emulated phone, and how its functions are called and answer. */
enum Abi {
  /** A Cortex-A53. */
  ARM64("arm64-v8a", 8) {
    @Override
    AndroidEmulatorBuilder phone() {
      return AndroidEmulatorBuilder.for64Bit();
    }

    @Override
    String processor() {
      return cpuInfo("8", "0xd03", "fp asimd");
    }

    @Override
    HookListener hooks() {
      return (memory, library, symbol, address) -> 0;
    }

    @Override
    Svc callback(ToLongFunction<RegisterContext> function) {
      return new Arm64Svc() {
        @Override
        public long handle(Emulator<?> emulator) {
          return function.applyAsLong(emulator.getContext());
        }
      };
    }

    @Override
    Number word(long value) {
      return value;
    }

    @Override
    long word(Number returned) {
      return returned.longValue();
    }

    @Override
    float returnedFloat(Backend registers) {
      byte[] register = registers.reg_read_vector(Arm64Const.UC_ARM64_REG_Q0);
      return ByteBuffer.wrap(register).order(ByteOrder.LITTLE_ENDIAN).getFloat();
    }
  },

  /** A Cortex-A7: the emulator lacks the instructions that ARMv8 added to 32-bit code. */
  ARM32("armeabi-v7a", 4) {
    @Override
    AndroidEmulatorBuilder phone() {
      return AndroidEmulatorBuilder.for32Bit();
    }

    @Override
    String processor() {
      return cpuInfo("7", "0xc07", "half thumb fastmult vfp edsp neon vfpv3 tls vfpv4 idiva idivt");
    }

    @Override
    HookListener hooks() {
      return (memory, library, symbol, address) ->
          symbol.equals("getauxval") ? memory.registerSvc(auxiliaryValues(memory)).peer : 0;
    }

    @Override
    Svc callback(ToLongFunction<RegisterContext> function) {
      return new ArmSvc() {
        @Override
        public long handle(Emulator<?> emulator) {
          long answer = function.applyAsLong(emulator.getContext());
          emulator.getBackend().reg_write(ArmConst.UC_ARM_REG_R1, (int) (answer >> 32));
          return answer;
        }
      };
    }

    @Override
    Number word(long value) {
      return (int) value;
    }

    @Override
    long word(Number returned) {
      return Integer.toUnsignedLong(returned.intValue());
    }

    @Override
    float returnedFloat(Backend registers) {
      return Float.intBitsToFloat(registers.reg_read(ArmConst.UC_ARM_REG_R0).intValue());
    }
  };

  /** The name in an APK. */
  final String folder;

  /** In bytes. */
  final int pointerSize;

  Abi(String folder, int pointerSize) {
    this.folder = folder;
    this.pointerSize = pointerSize;
  }

  /** Builds the emulator. */
  abstract AndroidEmulatorBuilder phone();

  /** What is in {@code /proc/cpuinfo}: XNNPACK chooses its kernels by it, and is no delegate without it. */
  abstract String processor();

  /** Replaces system functions that the emulator answers otherwise than a phone. */
  abstract HookListener hooks();

  /** What the library may call. */
  abstract Svc callback(ToLongFunction<RegisterContext> function);

  /** An address or a reference as an argument. */
  abstract Number word(long value);

  /** An address or a reference that a function has returned. */
  abstract long word(Number returned);

  /** What the last call has returned, where that is a float. */
  abstract float returnedFloat(Backend registers);

  private static String cpuInfo(String architecture, String part, String features) {
    return String.join(
        "\n",
        "processor\t: 0",
        "Features\t: " + features,
        "CPU implementer\t: 0x41",
        "CPU architecture: " + architecture,
        "CPU variant\t: 0x0",
        "CPU part\t: " + part,
        "CPU revision\t: 4\n",
        "Hardware\t: test\n");
  }

  /** The C function {@code getauxval}: the emulator's says of a 32-bit CPU that it has no NEON. */
  private static Svc auxiliaryValues(SvcMemory memory) {
    int random = 25; // AT_RANDOM: where 16 random bytes are
    int capabilities = 16; // AT_HWCAP: those of the processor above, bits as Linux numbers them
    int bits = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 6 | 1 << 7 | 1 << 12 | 1 << 13 | 1 << 15 | 1 << 16 | 1 << 17 | 1 << 18;
    long bytes = memory.allocate(16, "AT_RANDOM").peer;
    return ARM32.callback(
        call -> {
          int asked = call.getIntArg(0);
          return asked == capabilities ? bits : asked == random ? bytes : 0;
        });
  }
}
