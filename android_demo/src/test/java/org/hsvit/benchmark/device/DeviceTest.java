package org.hsvit.benchmark.device;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;
import static org.robolectric.Shadows.shadowOf;

import android.app.Application;
import android.content.Intent;
import android.content.pm.ApplicationInfo;
import android.os.BatteryManager;
import android.os.Build;
import android.os.PowerManager;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import org.hsvit.benchmark.bundle.Contents;
import org.hsvit.benchmark.measure.Accelerator;
import org.hsvit.benchmark.measure.FakePhone;
import org.hsvit.benchmark.measure.ModelException;
import org.hsvit.benchmark.measure.Settings;
import org.hsvit.benchmark.measure.State;
import org.hsvit.benchmark.report.Cluster;
import org.hsvit.benchmark.report.Device;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;
import org.junit.runner.RunWith;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.annotation.Config;

@RunWith(RobolectricTestRunner.class)
@Config(sdk = {26, 29, 31, 34, 35})
public class DeviceTest {
  @Rule public final TemporaryFolder folder = new TemporaryFolder();

  private final Application context = RuntimeEnvironment.getApplication();
  private final PowerManager power = context.getSystemService(PowerManager.class);
  private final BatteryManager battery = context.getSystemService(BatteryManager.class);

  @Test
  public void heatBatteryAndPowerSavingAreRead() {
    boolean hasHeat = Build.VERSION.SDK_INT >= 29;
    if (hasHeat) {
      shadowOf(power).setCurrentThermalStatus(PowerManager.THERMAL_STATUS_MODERATE);
    }
    shadowOf(power).setIsPowerSaveMode(true);
    shadowOf(battery).setIntProperty(BatteryManager.BATTERY_PROPERTY_CAPACITY, 81);
    shadowOf(battery).setIsCharging(true);
    State state = DeviceState.read(context);
    assertEquals(hasHeat ? Integer.valueOf(PowerManager.THERMAL_STATUS_MODERATE) : null, state.thermalStatus);
    assertTrue(state.powerSave);
    assertEquals(81, state.batteryPercent, 0);
    assertTrue(state.charging);
    assertEquals(System.currentTimeMillis(), state.time, 60_000);
    assertEquals(state.powerSave, new AndroidMachine(context).state().powerSave);
  }

  @Test
  @Config(sdk = 26)
  public void whatAnOldAndroidDoesNotKnowIsNull() {
    shadowOf(battery).setIntProperty(BatteryManager.BATTERY_PROPERTY_CAPACITY, Integer.MIN_VALUE);
    State state = DeviceState.read(context);
    assertNull(state.thermalStatus);
    assertNull(state.thermalHeadroom);
    assertNull(state.batteryPercent);
    assertFalse(state.powerSave);
    assertEquals(Build.HARDWARE, DeviceFacts.read(context).cpu);
  }

  @Test
  public void factsOfThePhoneAreRead() {
    context.getApplicationInfo().flags &= ~ApplicationInfo.FLAG_DEBUGGABLE;
    Device device = DeviceFacts.read(context);
    assertEquals(Build.MANUFACTURER + " " + Build.MODEL, device.name);
    assertEquals(Build.VERSION.RELEASE, device.osVersion);
    assertEquals(Build.VERSION.SDK_INT, device.apiLevel);
    assertTrue(device.cores > 0);
    assertTrue(device.language.startsWith("Java on "));
    assertFalse(device.debugBuild);
    context.getApplicationInfo().flags |= ApplicationInfo.FLAG_DEBUGGABLE;
    assertTrue(DeviceFacts.read(context).debugBuild);
  }

  @Test
  public void cpuFeaturesAreThoseThatKernelsChooseBy() throws Exception {
    File cpuinfo = folder.newFile();
    String text = "processor\t: 0\nFeatures\t: fp asimd evtstrm aes i8mm asimddp \nprocessor\t: 1\n";
    Files.write(cpuinfo.toPath(), text.getBytes("US-ASCII"));
    assertEquals(List.of("asimd", "asimddp", "i8mm"), DeviceFacts.features(cpuinfo));
    assertNull(DeviceFacts.features(folder.newFile()));
    assertNull(DeviceFacts.features(new File(folder.getRoot(), "none")));
  }

  private void write(String path, String text) throws Exception {
    File file = new File(folder.getRoot(), path);
    Files.createDirectories(file.getParentFile().toPath());
    Files.write(file.toPath(), text.getBytes("US-ASCII"));
  }

  @Test
  public void clustersAreThoseThatShareAClock() throws Exception {
    write("cpufreq/policy4/related_cpus", "4 5 6\n");
    write("cpufreq/policy4/cpuinfo_max_freq", "2420000\n");
    write("cpu4/cpu_capacity", "871\n");
    write("cpufreq/policy0/related_cpus", "0 1 2 3\n");
    write("cpufreq/policy7/cpuinfo_max_freq", "3000000\n"); // without cores, as an offline one has
    List<Cluster> clusters = DeviceFacts.clusters(folder.getRoot());
    assertEquals(2, clusters.size());
    assertEquals(List.of(0, 1, 2, 3), clusters.get(0).cores);
    assertNull(clusters.get(0).maxMegahertz);
    assertNull(clusters.get(0).capacity);
    assertEquals(List.of(4, 5, 6), clusters.get(1).cores);
    assertEquals(2420, (int) clusters.get(1).maxMegahertz);
    assertEquals(871, (int) clusters.get(1).capacity);
    assertNull(DeviceFacts.clusters(new File(folder.getRoot(), "none")));
  }

  @Test
  public void theBatteryHasATemperature() {
    assertNull(DeviceState.read(context).batteryCelsius);
    Intent latest = new Intent(Intent.ACTION_BATTERY_CHANGED);
    context.sendStickyBroadcast(latest.putExtra(BatteryManager.EXTRA_TEMPERATURE, 314));
    assertEquals(31.4, DeviceState.read(context).batteryCelsius, 1e-9);
  }

  @Test
  public void headroomThatIsNoNumberIsNotKnown() {
    assertNull(DeviceState.finite(Float.NaN));
    assertNull(DeviceState.finite(Float.POSITIVE_INFINITY));
    assertEquals(0.5, DeviceState.finite(0.5f), 0);
  }

  @Test
  public void assetsAreASource() throws Exception {
    AssetSource source = new AssetSource(context.getAssets(), "sample");
    assertEquals("a picture\n", new String(Contents.read(source, "images/a.txt"), "US-ASCII"));
    assertThrows(IOException.class, () -> Contents.read(source, "images/b.txt"));
    ByteBuffer model = source.map("model.tflite");
    assertEquals("a model\n", StandardCharsets.US_ASCII.decode(model.duplicate()).toString());
    assertTrue(model.isDirect() && model.order() == ByteOrder.nativeOrder());
    assertThrows(IOException.class, () -> source.map("other.tflite"));
  }

  @Test
  @Config(sdk = 26)
  public void anAndroidWithoutNnApiIsRefused() throws Exception {
    FakePhone phone = new FakePhone();
    Settings settings = new Settings.Builder().accelerators(List.of(Accelerator.NPU)).build();
    ModelException error =
        assertThrows(
            ModelException.class,
            () -> TfLiteRunner.open(phone.bundle().model(FakePhone.INT8), phone, settings));
    assertEquals("this Android has no NNAPI: it came with Android 8.1", error.getMessage());
  }

  @Test
  public void clocksGoOn() throws Exception {
    AndroidMachine machine = new AndroidMachine(context);
    long nanos = machine.nanoTime();
    machine.sleep(2);
    assertTrue(machine.nanoTime() - nanos >= 2_000_000);
    assertTrue(machine.cpuNanos() >= 0);
  }
}
