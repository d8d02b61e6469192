package org.hsvit.benchmark.bundle;

import java.util.ArrayList;
import java.util.List;

/**
 * An output of a model in the row of all its numbers. A row holds the outputs as floats, one behind the other.
 */
public final class Part {
  public final String name;

  /** Where its numbers start in the row, and where they end. */
  public final int start;

  public final int end;

  /** Length of the output's last axis. */
  public final int last;

  private Part(Tensor output, int start) {
    this.name = output.name;
    this.start = start;
    this.end = start + output.elements();
    this.last = output.shape[output.shape.length - 1];
  }

  static List<Part> of(List<Tensor> outputs) {
    List<Part> parts = new ArrayList<>();
    int start = 0;
    for (Tensor output : outputs) {
      Part part = new Part(output, start);
      parts.add(part);
      start = part.end;
    }
    return List.copyOf(parts);
  }
}
