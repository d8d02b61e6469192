package org.hsvit.benchmark.measure;

import java.io.Serializable;
import java.nio.ByteBuffer;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.ModelFile;

/** Memory that a model adds to its process, bytes: the runtime's, its file's and its tensors'. */
public final class ModelMemory implements Serializable {
  private static final int RUNS = 3;

  /** After loading. */
  public final long loaded;

  /** After some runs. */
  public final long run;

  /** The most at any time. */
  public final long peak;

  ModelMemory(long loaded, long run, long peak) {
    this.loaded = loaded;
    this.run = run;
    this.peak = peak;
  }

  /**
   * Loads a model, runs it, and reads the memory in between. In a process that has not loaded a model before: others
   * leave memory that this one takes again.
   *
   * @return null where the machine does not tell its memory
   * @throws ModelException the runtime refuses the model, or fails
   */
  public static ModelMemory measure(
      Bundle bundle, ModelFile model, RunnerFactory factory, Machine machine, Settings settings)
      throws ModelException {
    ByteBuffer input = Preparation.noise(model);
    System.gc();
    Memory before = machine.memory();
    if (before == null) {
      return null;
    }
    try (Runner runner = factory.open(model, bundle.source(), settings)) {
      Memory loaded = machine.memory();
      for (int i = 0; i < RUNS; i++) {
        runner.run(input);
      }
      Memory after = machine.memory();
      return new ModelMemory(
          added(before, loaded.resident), added(before, after.resident), added(before, after.peak));
    }
  }

  private static long added(Memory before, long now) {
    return Math.max(0, now - before.resident);
  }
}
