package org.hsvit.benchmark.bundle;

import java.util.List;
import java.util.Map;

/** Operations of one kind, cut out of a model into a file of their own. */
public final class Cut {
  /** Such as {@code Convolution}; several files of a model may have the same. */
  public final String kind;

  /** The file, which takes any tensors: neither its input nor its outputs are known. */
  public final ModelFile model;

  Cut(String kind, String file, long bytes, String sha256) {
    this.kind = kind;
    this.model =
        new ModelFile(
            file, kind, null, bytes, sha256, null, List.of(), null, null, null, List.of(), Map.of());
  }
}
