package org.hsvit.benchmark.measure;

import java.nio.ByteBuffer;
import org.hsvit.benchmark.bundle.Delegation;

/** A loaded model. Not for several threads at once. */
public interface Runner extends AutoCloseable {
  /** How long it took to read the file, allocate memory and build the graph, milliseconds. */
  double initMs();

  /** The runtime's name and version. */
  String runtimeName();

  String runtimeVersion();

  /** What runs the graph, such as {@code XNNPACK}; null where it is not known. */
  String delegate();

  /** How much of the graph the delegate runs; null where it is not known. */
  Delegation delegation();

  /** What runs the model; null where the runtime does not say. */
  Accelerator used();

  /**
   * Runs the model once. This is what is timed: setting the input, running, getting the outputs.
   *
   * @param input a direct buffer that {@link Preparation} made; its position and limit stay unchanged
   * @return the row of all outputs: floats unchanged, integers as the numbers that they stand for
   * @throws ModelException the runtime fails
   */
  float[] run(ByteBuffer input) throws ModelException;

  @Override
  void close();
}
