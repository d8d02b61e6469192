package org.hsvit.benchmark.report;

import org.hsvit.benchmark.measure.Listener.Phase;
import org.hsvit.benchmark.measure.Machine;
import org.hsvit.benchmark.measure.Settings;

/** Estimates how long a session still takes, from its blocks and checks so far. */
final class Pace {
  /** A block is a warm-up and its runs, which take about the same time. */
  private static final int RUNS_AND_WARMUP = 2;

  private final Machine machine;
  private final Settings settings;
  private final int pairs;
  private final int blocks;
  private final int checks;
  private final long start;
  private long phaseStart;
  private double blockMs;
  private double checkMs;

  /**
   * @param images how many images both models of a pair run on
   */
  Pace(Machine machine, Settings settings, int pairs, int images) {
    this.machine = machine;
    this.settings = settings;
    this.pairs = pairs;
    this.blocks = 2 * settings.blocks;
    this.checks = 2 * images;
    this.start = machine.nanoTime();
    this.phaseStart = start;
  }

  /** A pair is begun. */
  Progress begin(int pair) {
    phaseStart = machine.nanoTime();
    return progress(pair, Phase.TIMING, 0);
  }

  /** A block of a pair is timed, or an output is checked. */
  Progress step(int pair, Phase phase, int done) {
    if (phase == Phase.COOLING) {
      return progress(pair, phase, 0);
    } else if (phase == Phase.TIMING_MORE) {
      phaseStart = machine.nanoTime();
      return progress(pair, phase, blocks);
    } else if (phase == Phase.COMPARING) {
      return progress(pair, phase, blocks + checks); // takes seconds at most
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
    return progress(pair, phase, blocks + done);
  }

  /** A pair is over, whatever became of it. */
  Progress end(int pair) {
    return progress(pair, Phase.COMPARING, blocks + checks);
  }

  /** How long a pair's blocks may take, so that those behind it have as long. */
  long limitMs(int pair) {
    return Math.max(0, leftOfLimitMs()) / (pairs - pair);
  }

  private long leftOfLimitMs() {
    return 1000L * settings.limitS - (machine.nanoTime() - start) / 1_000_000;
  }

  private Progress progress(int pair, Phase phase, int step) {
    int later = pairs - 1 - pair;
    double timing = blockMs * (later * blocks + Math.max(0, blocks - step));
    double checking = checkMs * (later * checks + Math.min(checks, blocks + checks - step));
    double left = Math.min(timing, Math.max(0, leftOfLimitMs())) + checking;
    int each = blocks + checks;
    return new Progress(pair, phase, pair * each + step, pairs * each, blockMs == 0 ? null : (long) left);
  }
}
