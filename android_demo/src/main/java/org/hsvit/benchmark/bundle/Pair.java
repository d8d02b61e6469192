package org.hsvit.benchmark.bundle;

/** An original and one mobile artifact of it, to be measured side by side. */
public final class Pair {
  public final String name;
  public final ModelFile original;
  public final ModelFile mobile;

  Pair(String name, ModelFile original, ModelFile mobile) {
    this.name = name;
    this.original = original;
    this.mobile = mobile;
  }
}
