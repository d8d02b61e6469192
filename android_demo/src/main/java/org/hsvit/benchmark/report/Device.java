package org.hsvit.benchmark.report;

import java.util.List;
import java.util.Map;

/** Facts that do not change while measuring: of the phone and of the app. */
public final class Device {
  /** Maker and model. */
  public final String name;

  /** CPU or SoC; null where it is not known. */
  public final String cpu;

  /** Such as {@code arm64-v8a}. */
  public final String architecture;

  public final int cores;

  /** Instruction set extensions that decide which kernels run; null where they are not known. */
  public final List<String> features;

  /** Which cores share a clock, and how fast they are; null where it is not known. */
  public final List<Cluster> clusters;

  /** Version of Android, such as {@code 14}, and its API level. */
  public final String osVersion;

  public final int apiLevel;
  public final long memoryBytes;

  /** Version of the app. */
  public final String appVersion;

  /** Whether the app was built for debugging. */
  public final boolean debugBuild;

  /** Such as {@code Java 17}. */
  public final String language;

  /** Versions of the libraries in use. */
  public final Map<String, String> packages;

  public Device(
      String name,
      String cpu,
      String architecture,
      int cores,
      List<String> features,
      List<Cluster> clusters,
      String osVersion,
      int apiLevel,
      long memoryBytes,
      String appVersion,
      boolean debugBuild,
      String language,
      Map<String, String> packages) {
    this.name = name;
    this.cpu = cpu;
    this.architecture = architecture;
    this.cores = cores;
    this.features = features;
    this.clusters = clusters;
    this.osVersion = osVersion;
    this.apiLevel = apiLevel;
    this.memoryBytes = memoryBytes;
    this.appVersion = appVersion;
    this.debugBuild = debugBuild;
    this.language = language;
    this.packages = packages;
  }
}
