package org.hsvit.benchmark.app;

import static org.robolectric.Shadows.shadowOf;

import android.os.Looper;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.hsvit.benchmark.measure.FakePhone;
import org.hsvit.benchmark.measure.RunnerFactory;
import org.hsvit.benchmark.report.Cluster;
import org.hsvit.benchmark.report.Device;
import org.junit.rules.ExternalResource;
import org.robolectric.RuntimeEnvironment;

/** The app on a {@link FakePhone}, whose bundle lies in the folder {@link #KEY}. */
final class AppFixture extends ExternalResource {
  static final String KEY = "sums";

  final BenchmarkApplication app = (BenchmarkApplication) RuntimeEnvironment.getApplication();
  final FakePhone phone = new FakePhone();

  private volatile CountDownLatch gate = new CountDownLatch(0);
  private volatile String held;
  private volatile int waited;

  AppFixture() {
    Folders.delete(Folders.bundles(app)); // what an earlier test left
    Folders.delete(Folders.reports(app));
    RunnerFactory gated =
        (model, source, settings) -> {
          if (model.file.equals(held)) {
            waitAtGate();
          }
          return phone.open(model, source, settings);
        };
    app.phone =
        new Phone(
            Isolation.none(app),
            gated,
            phone,
            phone,
            (folder, files, range) -> phone.bundle(),
            app.phone::device);
  }

  /** Lets models be described otherwise. */
  void describe(Phone.Describer describer) {
    Phone now = app.phone;
    app.phone = new Phone(now.isolation, now.runners, now.decoder, now.machine, describer, now::device);
  }

  /** Lets the phone have clusters of cores. */
  void cluster(Cluster... clusters) {
    Phone now = app.phone;
    Device known = now.device();
    Device told =
        new Device(
            known.name,
            known.cpu,
            known.architecture,
            known.cores,
            known.features,
            List.of(clusters),
            known.osVersion,
            known.apiLevel,
            known.memoryBytes,
            known.appVersion,
            known.debugBuild,
            known.language,
            known.packages);
    app.phone = new Phone(now.isolation, now.runners, now.decoder, now.machine, now.describer, () -> told);
  }

  /** What is still under way would otherwise end in the next test, whose app is another. */
  @Override
  protected void after() {
    letGo();
    try {
      Background.await(app);
    } catch (InterruptedException error) {
      throw new AssertionError(error);
    }
  }

  /** Waits as loading a held model does. */
  void waitAtGate() {
    waited++;
    try {
      gate.await(20, TimeUnit.SECONDS);
    } catch (InterruptedException error) {
      throw new AssertionError(error);
    }
  }

  /** The phone's bundle as a zip, and perhaps another file in it. */
  byte[] archive(String more) throws IOException {
    phone.bundle();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
      for (String name : phone.files.keySet()) {
        zip.putNextEntry(new ZipEntry(name));
        zip.write(phone.files.get(name));
      }
      if (more != null) {
        zip.putNextEntry(new ZipEntry(more));
      }
    }
    return bytes.toByteArray();
  }

  /** Loading a model waits from now on, until {@link #letGo()}. */
  void hold(String file) {
    gate = new CountDownLatch(1);
    held = file;
  }

  /** How often loading has come to wait. */
  int timesHeld() {
    return waited;
  }

  /** Whether loading has come to wait. */
  boolean isHeld() {
    return waited > 0;
  }

  void letGo() {
    gate.countDown();
  }

  /** Puts the phone's bundle where adb pushes it. */
  AppFixture push() throws IOException {
    return push(KEY);
  }

  AppFixture push(String key) throws IOException {
    return push(key, phone);
  }

  /** Puts another phone's bundle there. */
  AppFixture push(String key, FakePhone phone) throws IOException {
    phone.bundle();
    for (String file : phone.files.keySet()) {
      write(key + "/" + file, phone.files.get(file));
    }
    return this;
  }

  /** Writes a file below the folder of bundles. */
  void write(String path, byte[] content) throws IOException {
    File file = new File(Folders.bundles(app), path);
    Files.createDirectories(file.getParentFile().toPath());
    Files.write(file.toPath(), content);
  }

  /** Lets the app work until a condition holds. */
  void await(BooleanSupplier condition) throws InterruptedException {
    long end = System.nanoTime() + 20_000_000_000L;
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > end) {
        throw new AssertionError("the condition did not hold within 20 s");
      }
      Thread.sleep(2);
      shadowOf(Looper.getMainLooper()).idle();
    }
  }

  /** Lets the app work until the run has ended. */
  Run.Ending awaitEnding() throws InterruptedException {
    await(() -> app.runs().run() != null && app.runs().run().ending() != null);
    return app.runs().run().ending();
  }

  List<File> reports() {
    return ReportsPanel.list(Folders.reports(app));
  }
}
