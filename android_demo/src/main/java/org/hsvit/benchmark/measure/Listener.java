package org.hsvit.benchmark.measure;

/** Hears of progress, and may end the measuring. Called by the measuring thread, never in a timed run. */
public interface Listener {
  /**
   * A block is done.
   *
   * @param done blocks so far, of both models; in a session, of all pairs
   * @param total blocks in all
   */
  void onProgress(int done, int total);

  /** Whether to stop. Asked before every run, so that a run ends within one inference. */
  boolean isCancelled();
}
