package org.hsvit.benchmark.device;

import java.nio.ByteBuffer;
import org.hsvit.benchmark.bundle.BundleSource;
import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.measure.Accelerator;
import org.hsvit.benchmark.measure.ModelException;
import org.hsvit.benchmark.measure.Runner;
import org.hsvit.benchmark.measure.Settings;

/** A model in TensorFlow Lite's interpreter. {@code TfLiteRunner::open} is a {@code RunnerFactory}. */
public final class TfLiteRunner implements Runner {
  /** Loads a model, see {@link org.hsvit.benchmark.measure.RunnerFactory#open}. */
  public static TfLiteRunner open(ModelFile model, BundleSource source, Settings settings)
      throws ModelException {
    throw new UnsupportedOperationException();
  }

  @Override
  public double initMs() {
    throw new UnsupportedOperationException();
  }

  @Override
  public String runtimeName() {
    return "TFLite Interpreter";
  }

  @Override
  public String runtimeVersion() {
    throw new UnsupportedOperationException();
  }

  @Override
  public String delegate() {
    throw new UnsupportedOperationException();
  }

  @Override
  public Accelerator used() {
    throw new UnsupportedOperationException();
  }

  @Override
  public float[] run(ByteBuffer input) throws ModelException {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {
    throw new UnsupportedOperationException();
  }
}
