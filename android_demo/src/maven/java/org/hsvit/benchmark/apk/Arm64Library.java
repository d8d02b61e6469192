package org.hsvit.benchmark.apk;

import com.github.unidbg.AndroidEmulator;
import com.github.unidbg.Module;
import com.github.unidbg.arm.backend.Unicorn2Factory;
import com.github.unidbg.file.FileResult;
import com.github.unidbg.file.IOResolver;
import com.github.unidbg.file.linux.AndroidFileIO;
import com.github.unidbg.linux.android.AndroidEmulatorBuilder;
import com.github.unidbg.linux.android.AndroidResolver;
import com.github.unidbg.linux.file.ByteArrayFileIO;
import com.github.unidbg.memory.MemoryBlock;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.hsvit.benchmark.bundle.BundleSource;
import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.device.TfLiteRunner;
import org.hsvit.benchmark.measure.ModelException;
import org.hsvit.benchmark.measure.Runner;
import org.hsvit.benchmark.measure.Settings;
import unicorn.Arm64Const;

/** TensorFlow Lite's library for phones, loaded into an emulated ARM CPU and called by its Java classes. */
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

  private final Path file;
  private final AndroidEmulator emulator;
  private final Module library;
  private final Arm64Classes classes;

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
    classes = new Arm64Classes(new Arm64Jni(this, emulator));
  }

  private static FileResult<AndroidFileIO> file(String path, int flags) {
    String content = CPU.get(path);
    return content == null
        ? null
        : FileResult.success(new ByteArrayFileIO(flags, path, content.getBytes(StandardCharsets.US_ASCII)));
  }

  /**
   * Loads a model as the app does on a phone: by its own runner, and by TensorFlow Lite's classes.
   *
   * @throws ModelException the library refuses it
   */
  Runner open(ModelFile model, BundleSource source) throws ReflectiveOperationException, ModelException {
    Class<?> runner = classes.loadClass(TfLiteRunner.class.getName());
    try {
      return (Runner)
          runner
              .getMethod("open", ModelFile.class, BundleSource.class, Settings.class)
              .invoke(null, model, source, Settings.DEFAULT);
    } catch (InvocationTargetException error) {
      if (error.getCause() instanceof ModelException) {
        throw (ModelException) error.getCause();
      }
      throw error;
    }
  }

  /** Calls a function and returns what it does, a number or an address; -1 if it crashes. */
  long call(String function, Object... arguments) {
    return library.callFunction(emulator, function, arguments).longValue();
  }

  /** What the last call has returned, where that is a float. */
  float returnedFloat() {
    byte[] register = emulator.getBackend().reg_read_vector(Arm64Const.UC_ARM64_REG_Q0);
    return ByteBuffer.wrap(register).order(ByteOrder.LITTLE_ENDIAN).getFloat();
  }

  /** Memory of the emulated process. */
  MemoryBlock memory(int bytes) {
    return emulator.getMemory().malloc(bytes, true);
  }

  @Override
  public void close() throws IOException {
    emulator.close();
    Files.delete(file);
  }
}
