package org.hsvit.benchmark.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.hsvit.benchmark.bundle.Delegation;
import org.hsvit.benchmark.measure.Accelerator;
import org.hsvit.benchmark.measure.Cores;
import org.hsvit.benchmark.measure.ExtraPlan;
import org.hsvit.benchmark.measure.ModelResult;
import org.hsvit.benchmark.measure.PairResult;
import org.hsvit.benchmark.measure.ReferenceCheck;
import org.hsvit.benchmark.measure.State;
import org.hsvit.benchmark.measure.SustainedTime;

/**
 * Finds what limits the numbers of a report.
 *
 * <p>Warnings that {@code measuring/benchmark_report.py} gives, too, have the same text.
 */
final class Warnings {
  private static final double NOISY = 1.5;
  private static final double AS_FAST = 0.9;
  private static final int FEW_RUNS = 100;

  private final Report report;
  private final List<Warning> found = new ArrayList<>();

  private Warnings(Report report) {
    this.report = report;
  }

  static List<Warning> of(Report report) {
    Warnings warnings = new Warnings(report);
    warnings.found.addAll(report.failures);
    List<String> names = report.names();
    List<ModelResult> models = report.models();
    for (int i = 0; i < names.size(); i++) {
      warnings.outputs(names.get(i), models.get(i));
      warnings.delegation(names.get(i), models.get(i));
    }
    warnings.cores();
    warnings.device();
    for (int i = 0; i < names.size(); i++) {
      warnings.latency(names.get(i), models.get(i));
    }
    return List.copyOf(warnings.found);
  }

  private void add(String code, String model, String format, Object... values) {
    found.add(new Warning(code, model, String.format(Locale.ROOT, format, values)));
  }

  private void outputs(String name, ModelResult result) {
    if (result.notFinite > 0) {
      add("not_finite", name, "%d of %d outputs hold NaN or infinity", result.notFinite, result.samples);
    }
    ReferenceCheck check = result.reference;
    if (check == null) {
      add("not_checked", name, "its outputs were not checked: there is no reference");
    } else if (!check.isRight()) {
      String by = check.maxAbsDiff == null ? "" : " by up to " + Numbers.short3(check.maxAbsDiff);
      add(
          "wrong_answers",
          name,
          "WRONG OUTPUTS for %d of %d samples: they differ from those of %s%s, at most %s is allowed",
          check.wrongSamples,
          check.samples,
          check.runtime,
          by,
          Numbers.short3(check.limit));
    }
  }

  private void delegation(String name, ModelResult result) {
    Delegation taken = result.delegation;
    if (result.asked != Accelerator.CPU) {
      accelerator(name, result);
    } else if (taken != null && !taken.isWhole()) {
      String source = result.delegationFromBundle ? ", as the bundle says, for the runtime's log tells nothing" : "";
      String format = "%s runs %d of %d ops, in %d pieces%s: the others run on slower kernels in between";
      add("fallback", name, format, result.delegate, taken.nodes, taken.total, taken.partitions, source);
    }
  }

  /** An accelerator leaves to the CPU what it does not run, and often says nothing. */
  private void accelerator(String name, ModelResult result) {
    Delegation taken = result.delegation;
    if (taken != null && taken.isNone()) {
      add("fallback", name, "%s runs none of %d ops: the CPU ran them all", result.delegate, taken.total);
    } else if (taken != null && !taken.isWhole()) {
      String format = "%s runs %d of %d ops, in %d pieces: the CPU runs the others in between";
      add("fallback", name, format, result.delegate, taken.nodes, taken.total, taken.partitions);
    }
    double ratio = result.extra.cpuMs == null ? 0 : result.latency.p50 / result.extra.cpuMs;
    if (AS_FAST <= ratio && ratio <= 1 / AS_FAST) {
      String format = "as fast as on the CPU, %s ms and %s ms: the %s may have left it to the CPU, or gains nothing";
      String own = Numbers.short3(result.latency.p50);
      add("fallback", name, format, own, Numbers.short3(result.extra.cpuMs), result.asked.name());
    }
  }

  /** Said once: what the system refuses for a pair, it refuses for all. */
  private void cores() {
    List<Integer> asked = report.settings.cores;
    for (PairResult result : report.results) {
      if (!asked.isEmpty() && !asked.equals(result.cores)) {
        String own = result.cores == null ? "on cores that it does not tell" : "on cores " + Cores.text(result.cores);
        add("cores", null, "cores %s were asked for, the system ran threads %s", Cores.text(asked), own);
        return;
      }
    }
  }

  private void device() {
    List<PairResult> results = report.results;
    if (!results.isEmpty()) {
      state("before measuring", results.get(0).before);
      results.forEach(this::during);
      for (PairResult result : results.subList(0, results.size() - 1)) {
        state("after measuring " + result.pair.name + Report.on(result.mobile.asked), result.after);
      }
      state("after measuring", results.get(results.size() - 1).after);
    }
    if (report.device.debugBuild) {
      add("debug_build", null, "measured by a debug build, which is slower than a release build");
    }
  }

  /** Heat that has come and gone while a pair was measured. */
  private void during(PairResult result) {
    int hottest = 0;
    for (State state : result.during) {
      hottest = Math.max(hottest, state.thermalStatus == null ? 0 : state.thermalStatus);
    }
    if (hottest > 0 && result.before.isCool() && result.after.isCool()) {
      String pair = result.pair.name + Report.on(result.mobile.asked);
      add("thermal", null, "the device throttled while measuring %s, status %d", pair, hottest);
    }
  }

  private void state(String when, State state) {
    if (state.thermalStatus != null && state.thermalStatus > 0) {
      add("thermal", null, "the device throttled %s, status %d", when, state.thermalStatus);
    }
    if (Boolean.TRUE.equals(state.powerSave)) {
      add("power_save", null, "the device saved power %s", when);
    }
  }

  private void latency(String name, ModelResult result) {
    double spread = result.latency.p90 / result.latency.p50;
    if (spread > NOISY) {
      String times = Numbers.fixed(spread, 1);
      add("noisy", name, "one run in ten took %s times the median or longer", times);
    }
    if (result.blocksMs.length < report.settings.blocks) {
      int blocks = result.blocksMs.length;
      String format = "%d of %d blocks were measured, as the time of the run was over";
      add("time_limit", name, format, blocks, report.settings.blocks);
    }
    List<SustainedTime> sustained = result.extra.sustained;
    if (sustained != null && sustained.size() < ExtraPlan.STRETCHES) {
      String ran = Numbers.short3(sustained.get(sustained.size() - 1).seconds);
      String format = "it ran without a pause for %s of %d s, as the time of the run was over";
      add("time_limit", name, format, ran, report.settings.sustainedS);
    }
    if (result.latency.count < FEW_RUNS) {
      add("few_runs", name, "p99 of %d runs is hardly more than their maximum", result.latency.count);
    }
    int asked = report.settings.threads;
    double busy = result.busyCores;
    if (result.asked == Accelerator.CPU && (busy > asked + 0.5 || (busy < 1.2 && asked > 1))) {
      String cores = Numbers.fixed(busy, 1);
      add("threads", name, "%d threads were asked for, %s CPU cores were busy", asked, cores);
    }
  }
}
