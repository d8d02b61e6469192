package org.hsvit.benchmark.report;

import java.util.ArrayList;
import java.util.List;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.measure.Accelerator;
import org.hsvit.benchmark.measure.ModelResult;
import org.hsvit.benchmark.measure.PairResult;
import org.hsvit.benchmark.measure.Settings;

/** The results of a run so far. */
public final class Report {
  public final Bundle bundle;
  public final Settings settings;
  public final Device device;

  /** The finished pairs, in the order of time. */
  public final List<PairResult> results;

  /** Pairs that could not be measured, and why the run ended early. */
  public final List<Warning> failures;

  public Report(
      Bundle bundle,
      Settings settings,
      Device device,
      List<PairResult> results,
      List<Warning> failures) {
    this.bundle = bundle;
    this.settings = settings;
    this.device = device;
    this.results = List.copyOf(results);
    this.failures = List.copyOf(failures);
  }

  /** All measured models: original and mobile of the first pair, of the second, ... */
  public List<ModelResult> models() {
    List<ModelResult> models = new ArrayList<>();
    for (PairResult result : results) {
      models.add(result.original);
      models.add(result.mobile);
    }
    return models;
  }

  /**
   * The names of {@link #models()}: their files, with their accelerator but for the CPU, and numbered where they
   * were measured before, as the original is in every pair.
   */
  public List<String> names() {
    List<String> names = new ArrayList<>();
    for (ModelResult result : models()) {
      String file = result.model.file + on(result.asked);
      String name = file;
      for (int i = 2; names.contains(name); i++) {
        name = file + " (" + i + ")";
      }
      names.add(name);
    }
    return names;
  }

  /** An accelerator behind the name of what runs on it: {@code  on GPU}; empty for the CPU. */
  public static String on(Accelerator accelerator) {
    return accelerator == Accelerator.CPU ? "" : " on " + accelerator.name();
  }

  /** Everything that limits the numbers of the report, failures first. */
  public List<Warning> warnings() {
    return Warnings.of(this);
  }
}
