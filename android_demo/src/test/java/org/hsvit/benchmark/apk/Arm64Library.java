package org.hsvit.benchmark.apk;

import com.github.unidbg.AndroidEmulator;
import com.github.unidbg.Emulator;
import com.github.unidbg.Module;
import com.github.unidbg.arm.Arm64Svc;
import com.github.unidbg.arm.backend.Unicorn2Factory;
import com.github.unidbg.arm.context.RegisterContext;
import com.github.unidbg.file.FileResult;
import com.github.unidbg.file.IOResolver;
import com.github.unidbg.file.linux.AndroidFileIO;
import com.github.unidbg.linux.android.AndroidEmulatorBuilder;
import com.github.unidbg.linux.android.AndroidResolver;
import com.github.unidbg.linux.file.ByteArrayFileIO;
import com.github.unidbg.memory.MemoryBlock;
import com.github.unidbg.pointer.UnidbgPointer;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** TensorFlow Lite's library for phones, loaded into an emulated ARM CPU and called by its C functions. */
final class Arm64Library implements AutoCloseable {
  /** What XNNPACK looks up of the CPU: a Cortex-A53. Without it there is no delegate. */
  private static final Map<String, String> CPU =
      Map.of(
          "/sys/devices/system/cpu/possible", "0\n",
          "/sys/devices/system/cpu/present", "0\n",
          "/proc/cpuinfo",
              "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU architecture: 8\n"
                  + "CPU variant\t: 0x0\nCPU part\t: 0xd03\nCPU revision\t: 4\n\nHardware\t: test\n");

  private static final int ANDROID = 23; // the newest whose system libraries come with the emulator
  private static final int MESSAGE_BYTES = 1024;

  private final Path file;
  private final AndroidEmulator emulator;
  private final Module library;
  private final List<String> complaints = new ArrayList<>();

  /** Takes the bytes of {@code libtensorflowlite_jni.so}. */
  Arm64Library(InputStream library) throws IOException {
    System.setIn(InputStream.nullInputStream()); // where the emulator's debugger would wait after a crash
    file = Files.createTempFile("libtensorflowlite_jni", ".so");
    Files.write(file, library.readAllBytes());
    emulator =
        AndroidEmulatorBuilder.for64Bit()
            .setProcessName("tflite")
            .addBackendFactory(new Unicorn2Factory(false))
            .build();
    emulator.getMemory().setLibraryResolver(new AndroidResolver(ANDROID));
    IOResolver<AndroidFileIO> files =
        (unused, path, flags) ->
            CPU.containsKey(path)
                ? FileResult.success(new ByteArrayFileIO(flags, path, CPU.get(path).getBytes()))
                : null;
    emulator.getSyscallHandler().addIOResolver(files);
    this.library = emulator.loadLibrary(file.toFile(), true);
  }

  /** Calls a function and returns what it does, a number or an address. */
  long call(String function, Object... arguments) {
    return library.callFunction(emulator, function, arguments).longValue();
  }

  /**
   * Calls a function that makes something.
   *
   * @throws IllegalStateException it made nothing; the message has what the library complained about
   */
  long make(String function, Object... arguments) {
    long made = call(function, arguments);
    if (made == 0 || made == -1) {
      throw failure(function + (made == 0 ? " makes nothing" : " crashes"));
    }
    return made;
  }

  /**
   * Calls a function that returns a TfLiteStatus.
   *
   * @throws IllegalStateException it is an error; the message has what the library complained about
   */
  void check(String function, Object... arguments) {
    int status = (int) call(function, arguments);
    if (status != 0) {
      throw failure(function + " returns status " + status);
    }
  }

  private IllegalStateException failure(String what) {
    String reason = complaints.isEmpty() ? "" : ": " + String.join(" ", complaints);
    complaints.clear();
    return new IllegalStateException(what + reason);
  }

  /** The address of a C function that keeps the complaints of an interpreter. */
  UnidbgPointer complaintKeeper() {
    MemoryBlock message = memory(new byte[MESSAGE_BYTES]);
    Arm64Svc keep =
        new Arm64Svc() {
          @Override
          public long handle(Emulator<?> unused) {
            RegisterContext given = emulator.getContext();
            UnidbgPointer format = given.getPointerArg(1);
            UnidbgPointer values = given.getPointerArg(2);
            Module c = emulator.getMemory().findModule("libc.so");
            c.callFunction(emulator, "vsnprintf", message.getPointer(), MESSAGE_BYTES, format, values);
            complaints.add(message.getPointer().getString(0).trim());
            return 0;
          }
        };
    return emulator.getSvcMemory().registerSvc(keep);
  }

  /** Memory of the emulated process that holds some bytes. */
  MemoryBlock memory(byte[] bytes) {
    MemoryBlock block = emulator.getMemory().malloc(bytes.length, true);
    block.getPointer().write(0, bytes, 0, bytes.length);
    return block;
  }

  String text(long address) {
    byte[] bytes = UnidbgPointer.pointer(emulator, address).getString(0).getBytes(StandardCharsets.UTF_8);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  @Override
  public void close() throws IOException {
    emulator.close();
    Files.delete(file);
  }
}
