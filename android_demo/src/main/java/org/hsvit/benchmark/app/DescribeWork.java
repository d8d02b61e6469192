package org.hsvit.benchmark.app;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.hsvit.benchmark.bundle.InputRange;
import org.hsvit.benchmark.measure.Listener;
import org.hsvit.benchmark.measure.ModelException;
import org.hsvit.benchmark.measure.RunnerFactory;

/** Makes a bundle of models that the user adds, see {@link Phone.Describer}. */
final class DescribeWork implements Work<Boolean> {
  private final String folder;
  private final ArrayList<String> files;
  private final double low;
  private final double high;

  DescribeWork(File folder, List<String> files, InputRange range) {
    this.folder = folder.getPath();
    this.files = new ArrayList<>(files);
    this.low = range.low;
    this.high = range.high;
  }

  @Override
  public String doing() {
    return "loading " + String.join(", ", files);
  }

  @Override
  public Boolean run(BenchmarkApplication app, RunnerFactory runners, Listener listener)
      throws ModelException, IOException {
    app.phone.describer.describe(new File(folder), files, new InputRange(low, high));
    return true;
  }
}
