package org.hsvit.benchmark.bundle;

import java.io.Serializable;

/** How much of a graph a delegate runs. */
public final class Delegation implements Serializable {
  /** Nodes of the graph that it runs. */
  public final int nodes;

  /** All nodes of the graph. */
  public final int total;

  /** In how many pieces it runs them; 1 is best. */
  public final int partitions;

  public Delegation(int nodes, int total, int partitions) {
    this.nodes = nodes;
    this.total = total;
    this.partitions = partitions;
  }

  public boolean isWhole() {
    return nodes == total && partitions == 1;
  }

  public boolean isNone() {
    return nodes == 0;
  }
}
