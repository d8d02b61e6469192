package org.hsvit.benchmark.apk;

import com.github.unidbg.AndroidEmulator;
import com.github.unidbg.Module;
import com.github.unidbg.arm.backend.Unicorn2Factory;
import com.github.unidbg.file.FileResult;
import com.github.unidbg.file.IOResolver;
import com.github.unidbg.file.linux.AndroidFileIO;
import com.github.unidbg.linux.android.AndroidResolver;
import com.github.unidbg.linux.file.ByteArrayFileIO;
import com.github.unidbg.memory.MemoryBlock;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.hsvit.benchmark.bundle.BundleSource;
import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.device.TfLiteRunner;
import org.hsvit.benchmark.measure.ModelException;
import org.hsvit.benchmark.measure.Runner;
import org.hsvit.benchmark.measure.Settings;

/** TensorFlow Lite's library for phones, loaded into an emulated ARM CPU and called by its Java classes. */
final class ArmLibrary implements AutoCloseable {
  private static final int ANDROID = 23; // the newest whose system libraries come with the emulator

  private final Abi abi;
  private final Path file;
  private final AndroidEmulator emulator;
  private final Module library;
  private final ArmClasses classes;

  /** Takes the bytes of {@code libtensorflowlite_jni.so}. */
  ArmLibrary(Abi abi, InputStream library) throws IOException {
    this.abi = abi;
    System.setIn(InputStream.nullInputStream()); // where the emulator's debugger would wait after a crash
    file = Files.createTempFile("libtensorflowlite_jni", ".so");
    Files.write(file, library.readAllBytes());
    emulator =
        abi.phone()
            .setProcessName("tflite")
            .addBackendFactory(new Unicorn2Factory(false))
            .build();
    emulator.getMemory().setLibraryResolver(new AndroidResolver(ANDROID));
    emulator.getMemory().addHookListener(abi.hooks());
    IOResolver<AndroidFileIO> files = (unused, path, flags) -> file(path, flags);
    emulator.getSyscallHandler().addIOResolver(files);
    this.library = emulator.loadLibrary(file.toFile(), true);
    classes = new ArmClasses(new ArmJni(abi, this, emulator));
  }

  /** Files that the emulator lacks: XNNPACK looks up what CPU there is. */
  private FileResult<AndroidFileIO> file(String path, int flags) {
    switch (path) {
      case "/sys/devices/system/cpu/possible":
      case "/sys/devices/system/cpu/present":
        return file(path, flags, "0\n");
      case "/proc/cpuinfo":
        return file(path, flags, abi.processor());
      default:
        return null;
    }
  }

  private static FileResult<AndroidFileIO> file(String path, int flags, String content) {
    return FileResult.success(new ByteArrayFileIO(flags, path, content.getBytes(StandardCharsets.US_ASCII)));
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
  Number call(String function, Object... arguments) {
    return library.callFunction(emulator, function, arguments);
  }

  /** What the last call has returned, where that is a float. */
  float returnedFloat() {
    return abi.returnedFloat(emulator.getBackend());
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
