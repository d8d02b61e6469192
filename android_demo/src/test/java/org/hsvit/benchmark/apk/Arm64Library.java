package org.hsvit.benchmark.apk;

import com.github.unidbg.AndroidEmulator;
import com.github.unidbg.Module;
import com.github.unidbg.arm.backend.Unicorn2Factory;
import com.github.unidbg.file.FileResult;
import com.github.unidbg.file.IOResolver;
import com.github.unidbg.file.linux.AndroidFileIO;
import com.github.unidbg.file.linux.IOConstants;
import com.github.unidbg.linux.android.AndroidEmulatorBuilder;
import com.github.unidbg.linux.android.AndroidResolver;
import com.github.unidbg.linux.file.ByteArrayFileIO;
import com.github.unidbg.memory.MemoryBlock;
import com.github.unidbg.pointer.UnidbgPointer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
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
  private static final String COMPLAINTS = "/complaints";

  private final Path file;
  private final AndroidEmulator emulator;
  private final Module library;
  private final Module c;
  private final ByteArrayOutputStream complaints = new ByteArrayOutputStream();

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
    IOResolver<AndroidFileIO> files = (unused, path, flags) -> file(path, flags);
    emulator.getSyscallHandler().addIOResolver(files);
    this.library = emulator.loadLibrary(file.toFile(), true);
    c = emulator.getMemory().findModule("libc.so");
  }

  private FileResult<AndroidFileIO> file(String path, int flags) {
    if (path.equals(COMPLAINTS)) {
      return FileResult.success(
          new ByteArrayFileIO(flags, path, new byte[0]) {
            @Override
            public int write(byte[] bytes) {
              complaints.writeBytes(bytes);
              return bytes.length;
            }
          });
    }
    String content = CPU.get(path);
    return content == null
        ? null
        : FileResult.success(new ByteArrayFileIO(flags, path, content.getBytes(StandardCharsets.US_ASCII)));
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
    String reasons = complaints.toString(StandardCharsets.UTF_8).trim().replaceAll("\\s+", " ");
    complaints.reset();
    return new IllegalStateException(reasons.isEmpty() ? what : what + ": " + reasons);
  }

  /** Makes an interpreter's options with complaints kept: vdprintf takes what an error reporter is given. */
  long makeOptions() {
    long options = make("TfLiteInterpreterOptionsCreate");
    long reporter = c.findSymbolByName("vdprintf").getAddress();
    long file = c.callFunction(emulator, "open", COMPLAINTS, IOConstants.O_WRONLY).longValue();
    call("TfLiteInterpreterOptionsSetErrorReporter", options, reporter, file);
    return options;
  }

  /** Memory of the emulated process that holds some bytes. */
  MemoryBlock memory(byte[] bytes) {
    MemoryBlock block = emulator.getMemory().malloc(bytes.length, true);
    block.getPointer().write(0, bytes, 0, bytes.length);
    return block;
  }

  /** The text at an address. */
  String text(long address) {
    return UnidbgPointer.pointer(emulator, address).getString(0);
  }

  @Override
  public void close() throws IOException {
    emulator.close();
    Files.delete(file);
  }
}
