package org.hsvit.benchmark.measure;

/** Receives progress and may cancel. Called by the measuring thread, never during a timed run. */
public interface Listener {
  /** What a pair goes through. */
  enum Phase {
    /** A warm phone is waited for; done and total are seconds. */
    COOLING("waiting for a cool phone"),

    /** The memory of a model is measured. */
    MEMORY("measuring memory"),

    /** Blocks of both models are timed. */
    TIMING("timing"),

    /** A model is timed on the CPU, with each number of threads, or for minutes. */
    TIMING_MORE("timing more"),

    /** Both models run on the images. */
    CHECKING("checking outputs"),

    /** The interval of the ratio is computed. */
    COMPARING("comparing");

    /** What is done in it, for a sentence. */
    public final String doing;

    Phase(String doing) {
      this.doing = doing;
    }
  }

  /**
   * Both models are loaded, a block is timed, an output is checked, or a part of the comparison is done.
   *
   * @param done finished blocks, or checked outputs, of both models; or resamples of their latencies
   * @param total all of them
   */
  void onProgress(Phase phase, int done, int total);

  /** Whether to stop. Called before every run, so that measuring ends within one inference. */
  boolean isCancelled();
}
