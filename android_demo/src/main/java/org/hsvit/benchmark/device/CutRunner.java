package org.hsvit.benchmark.device;

import java.nio.ByteBuffer;
import org.hsvit.benchmark.bundle.BundleSource;
import org.hsvit.benchmark.bundle.Delegation;
import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.measure.Accelerator;
import org.hsvit.benchmark.measure.ModelException;
import org.hsvit.benchmark.measure.Runner;
import org.hsvit.benchmark.measure.Settings;

/** Operations that were cut out of a model, on zeros: only their time counts. */
final class CutRunner implements Runner {
  private static final float[] NOTHING = {};

  private final LoadedModel loaded;
  private final ByteBuffer[] inputs;
  private final ByteBuffer[] outputs;

  private CutRunner(LoadedModel loaded) {
    this.loaded = loaded;
    this.inputs = loaded.inputBuffers();
    this.outputs = loaded.outputBuffers();
  }

  static CutRunner open(ModelFile cut, BundleSource source, Settings settings, LoadedModel.Engine engine)
      throws ModelException {
    return new CutRunner(LoadedModel.load(cut.file, source, settings, engine));
  }

  @Override
  public double initMs() {
    return 0;
  }

  @Override
  public String runtimeName() {
    return TfLiteRunner.NAME;
  }

  @Override
  public String runtimeVersion() {
    return TfLiteRunner.version();
  }

  @Override
  public String delegate() {
    return null;
  }

  @Override
  public Delegation delegation() {
    return null;
  }

  @Override
  public Accelerator used() {
    return null;
  }

  @Override
  public float[] run(ByteBuffer input) throws ModelException {
    loaded.run(inputs, outputs);
    return NOTHING;
  }

  @Override
  public void close() {
    loaded.close();
  }
}
