package org.hsvit.benchmark.device;

import android.app.ActivityManager;
import android.content.Context;
import android.content.pm.ApplicationInfo;
import android.content.pm.PackageManager;
import android.os.Build;
import android.os.Process;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.hsvit.benchmark.report.Cluster;
import org.hsvit.benchmark.report.Device;

/** Reads the facts that do not change while measuring: of the phone, its system, this app. */
public final class DeviceFacts {
  /** Extensions that kernels are chosen by: half floats, dot and matrix products, vector lengths. */
  private static final List<String> FEATURES =
      Arrays.asList(
          "neon", "asimd", "asimdhp", "asimddp", "i8mm", "bf16", "sve", "sve2", "sme",
          "avx", "fma", "avx2", "avx512f", "avx512bw", "avx512_vnni", "avx_vnni");

  private DeviceFacts() {}

  public static Device read(Context context) {
    String version = TfLiteRunner.version();
    return new Device(
        Build.MANUFACTURER + " " + Build.MODEL,
        Build.VERSION.SDK_INT >= 31 ? Build.SOC_MANUFACTURER + " " + Build.SOC_MODEL : Build.HARDWARE,
        (Process.is64Bit() ? Build.SUPPORTED_64_BIT_ABIS : Build.SUPPORTED_32_BIT_ABIS)[0],
        Runtime.getRuntime().availableProcessors(),
        features(new File("/proc/cpuinfo")),
        clusters(new File("/sys/devices/system/cpu")),
        Build.VERSION.RELEASE,
        Build.VERSION.SDK_INT,
        memory(context),
        appVersion(context),
        (context.getApplicationInfo().flags & ApplicationInfo.FLAG_DEBUGGABLE) != 0,
        "Java on " + System.getProperty("java.vm.name") + " " + System.getProperty("java.vm.version"),
        version == null ? Map.of() : Map.of("org.tensorflow:tensorflow-lite", version));
  }

  /** Those of {@link #FEATURES} that a file like Linux' /proc/cpuinfo names; null if it cannot be read. */
  static List<String> features(File cpuinfo) {
    try {
      for (String line : Files.readAllLines(cpuinfo.toPath(), StandardCharsets.ISO_8859_1)) {
        if (line.startsWith("Features") || line.startsWith("flags")) {
          List<String> features = new ArrayList<>(FEATURES);
          features.retainAll(Arrays.asList(line.substring(line.indexOf(':') + 1).trim().split(" ")));
          return features;
        }
      }
      return null;
    } catch (IOException error) {
      return null;
    }
  }

  /**
   * The clusters of cores that share a clock.
   *
   * @param cpus a folder like Linux' /sys/devices/system/cpu
   * @return null where the phone does not let apps read it
   */
  static List<Cluster> clusters(File cpus) {
    File[] policies = new File(cpus, "cpufreq").listFiles((folder, name) -> name.startsWith("policy"));
    List<Cluster> clusters = new ArrayList<>();
    for (File policy : policies == null ? new File[0] : policies) {
      String related = line(new File(policy, "related_cpus"));
      if (related == null || related.isEmpty()) {
        continue;
      }
      List<Integer> cores = new ArrayList<>();
      for (String core : related.split(" +")) {
        cores.add(Integer.valueOf(core));
      }
      String kilohertz = line(new File(policy, "cpuinfo_max_freq"));
      String capacity = line(new File(cpus, "cpu" + cores.get(0) + "/cpu_capacity"));
      clusters.add(
          new Cluster(
              cores,
              kilohertz == null ? null : Integer.parseInt(kilohertz) / 1000,
              capacity == null ? null : Integer.valueOf(capacity)));
    }
    clusters.sort(Comparator.comparing(cluster -> cluster.cores.get(0)));
    return clusters.isEmpty() ? null : clusters;
  }

  private static String line(File file) {
    try {
      return new String(Files.readAllBytes(file.toPath()), StandardCharsets.US_ASCII).trim();
    } catch (IOException error) {
      return null;
    }
  }

  private static long memory(Context context) {
    ActivityManager.MemoryInfo memory = new ActivityManager.MemoryInfo();
    context.getSystemService(ActivityManager.class).getMemoryInfo(memory);
    return memory.totalMem;
  }

  private static String appVersion(Context context) {
    try {
      return context.getPackageManager().getPackageInfo(context.getPackageName(), 0).versionName;
    } catch (PackageManager.NameNotFoundException error) {
      throw new AssertionError("an app is installed while it runs", error);
    }
  }
}
