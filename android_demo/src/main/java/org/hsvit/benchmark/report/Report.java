package org.hsvit.benchmark.report;

import java.util.List;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.measure.PairResult;
import org.hsvit.benchmark.measure.Settings;

/** The results of a run so far. */
public final class Report {
  public final Bundle bundle;
  public final Settings settings;
  public final Device device;

  /** The finished pairs, in the order of time. */
  public final List<PairResult> results;

  /** Pairs that could not be measured, and what ended the run early, as warnings. */
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
    this.results = results;
    this.failures = failures;
  }

  /** Everything that makes the numbers less than they seem, failures first. */
  public List<Warning> warnings() {
    throw new UnsupportedOperationException();
  }
}
