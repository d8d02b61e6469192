package org.hsvit.benchmark.report;

import java.util.ArrayList;
import java.util.List;
import org.hsvit.benchmark.bundle.Pair;
import org.hsvit.benchmark.measure.Accelerator;
import org.hsvit.benchmark.measure.ExtraPlan;
import org.hsvit.benchmark.measure.Listener.Phase;
import org.hsvit.benchmark.measure.Machine;
import org.hsvit.benchmark.measure.Settings;

/** Estimates how long a session still takes, from its blocks and checks so far. */
final class Pace {
  /** A block is a warm-up and its runs, which take about the same time. */
  private static final int RUNS_AND_WARMUP = 2;

  private final Machine machine;
  private final Settings settings;
  private final List<ExtraPlan> extras = new ArrayList<>(); // of each pair
  private final int blocks;
  private final int checks;
  private final long start;
  private long phaseStart;
  private double blockMs;
  private double checkMs;

  /**
   * @param pairs what is measured on each accelerator
   * @param images how many images both models of a pair run on
   */
  Pace(Machine machine, Settings settings, List<Pair> pairs, int images) {
    this.machine = machine;
    this.settings = settings;
    this.blocks = 2 * settings.blocks;
    this.checks = 2 * images;
    this.start = machine.nanoTime();
    this.phaseStart = start;
    for (Accelerator accelerator : settings.accelerators) {
      for (Pair pair : pairs) {
        extras.add(new ExtraPlan(pair, settings.on(accelerator), machine.cores()));
      }
    }
  }

  /** A pair is begun. */
  Progress begin(int pair) {
    phaseStart = machine.nanoTime();
    return progress(pair, Phase.TIMING, 0);
  }

  /** A block of a pair is timed, or an output is checked. */
  Progress step(int pair, Phase phase, int done) {
    if (phase == Phase.COOLING || phase == Phase.MEMORY) {
      return progress(pair, phase, 0);
    } else if (phase == Phase.TIMING_MORE) {
      phaseStart = machine.nanoTime();
      return progress(pair, phase, blocks + done);
    } else if (phase == Phase.COMPARING) {
      return progress(pair, phase, steps(pair)); // takes seconds at most
    } else if (done == 0) {
      phaseStart = machine.nanoTime();
      return progress(pair, phase, 0);
    }
    double each = (machine.nanoTime() - phaseStart) / 1e6 / done;
    if (phase == Phase.TIMING) {
      blockMs = each;
      checkMs = checkMs == 0 ? blockMs / RUNS_AND_WARMUP / settings.runs : checkMs;
      return progress(pair, phase, done);
    }
    if (done > 1) { // the first one tells nothing, its phase begins here
      checkMs = (machine.nanoTime() - phaseStart) / 1e6 / (done - 1);
    } else {
      phaseStart = machine.nanoTime();
    }
    return progress(pair, phase, steps(pair) - checks + done);
  }

  /** A pair is over, whatever became of it. */
  Progress end(int pair) {
    return progress(pair, Phase.COMPARING, steps(pair));
  }

  /** How long a pair's blocks may take, so that those behind it have as long. */
  long limitMs(int pair) {
    return Math.max(0, leftOfLimitMs()) / (extras.size() - pair);
  }

  private long leftOfLimitMs() {
    return 1000L * settings.limitS - (machine.nanoTime() - start) / 1_000_000;
  }

  /** Blocks, extra steps and checks of a pair. */
  private int steps(int pair) {
    return blocks + extras.get(pair).steps() + checks;
  }

  private Progress progress(int pair, Phase phase, int step) {
    int later = extras.size() - 1 - pair;
    int before = 0;
    int all = 0;
    double extra = extras.get(pair).leftMs(Math.max(0, step - blocks), blockMs);
    for (int i = 0; i < extras.size(); i++) {
      before += i < pair ? steps(i) : 0;
      all += steps(i);
      extra += i > pair ? extras.get(i).leftMs(0, blockMs) : 0;
    }
    double timing = blockMs * (later * blocks + Math.max(0, blocks - step)) + extra;
    double checking = checkMs * (later * checks + Math.min(checks, steps(pair) - step));
    double left = Math.min(timing, Math.max(0, leftOfLimitMs())) + checking;
    return new Progress(pair, phase, before + step, all, blockMs == 0 ? null : (long) left);
  }
}
