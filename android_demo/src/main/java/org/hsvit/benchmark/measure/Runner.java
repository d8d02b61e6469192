package org.hsvit.benchmark.measure;

import java.nio.ByteBuffer;

/** A loaded model. Not for several threads at once. */
public interface Runner extends AutoCloseable {
  /** How long it took to read the file, allocate memory and build the graph, milliseconds. */
  double initMs();

  /** The runtime's name and version. */
  String runtimeName();

  String runtimeVersion();

  /** What runs the graph, such as {@code XNNPACK}; null where nobody knows. */
  String delegate();

  /** What runs the model for certain; null where the runtime does not tell. */
  Accelerator used();

  /**
   * Runs the model once. That is what is timed: handing the input over, running, fetching the answer.
   *
   * @param input a direct buffer that {@link Preparation} made; its position and limit are left alone
   * @return one number for each class: floats as they are, integers as the numbers that they stand for
   * @throws ModelException the runtime fails
   */
  float[] run(ByteBuffer input) throws ModelException;

  @Override
  void close();
}
