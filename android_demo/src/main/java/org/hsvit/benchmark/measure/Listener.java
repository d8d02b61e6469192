package org.hsvit.benchmark.measure;

/** Receives progress and may cancel. Called by the measuring thread, never during a timed run. */
public interface Listener {
  /**
   * A block is done.
   *
   * @param done finished blocks of both models; in a session, of all pairs
   * @param total all blocks
   */
  void onProgress(int done, int total);

  /** Whether to stop. Called before every run, so that measuring ends within one inference. */
  boolean isCancelled();
}
