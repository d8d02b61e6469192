package org.hsvit.benchmark.measure;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.LabeledImage;
import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.bundle.Pair;

/**
 * Measures a pair of models side by side and checks their outputs.
 *
 * <p>Each model runs in blocks, and blocks alternate: A B, B A, A B, ..., so that what disturbs one disturbs
 * both. After that both run on all images of the bundle.
 */
public final class Benchmark {
  private static final int TIMED_PICTURES = 8;
  private static final int PATIENCE_MS = 50;

  private final Bundle bundle;
  private final RunnerFactory factory;
  private final PictureDecoder decoder;
  private final Machine machine;

  public Benchmark(
      Bundle bundle, RunnerFactory factory, PictureDecoder decoder, Machine machine) {
    this.bundle = bundle;
    this.factory = factory;
    this.decoder = decoder;
    this.machine = machine;
  }

  /** The bundle whose pairs are measured. */
  public Bundle bundle() {
    return bundle;
  }

  /**
   * Measures a pair. This takes long: not for the main thread.
   *
   * @throws ModelException a file is not what the bundle says, or a model does not run
   * @throws CancelledException the listener asked for it
   */
  public PairResult run(Pair pair, Settings settings, Listener listener)
      throws ModelException, CancelledException {
    State before = machine.state();
    try (Runner original = factory.openChecked(pair.original, bundle.source(), settings);
        Runner mobile = factory.openChecked(pair.mobile, bundle.source(), settings)) {
      List<Picture> pictures = pictures(pair.original);
      Timing ofOriginal =
          new Timing(original, timed(pair.original, pictures), settings.blocks, machine, listener);
      Timing ofMobile =
          new Timing(mobile, timed(pair.mobile, pictures), settings.blocks, machine, listener);
      time(ofOriginal, ofMobile, settings, listener);
      float[][] expected = outputs(original, pair.original, pictures, listener);
      float[][] outputs = outputs(mobile, pair.mobile, pictures, listener);
      return new PairResult(
          pair,
          Checks.result(bundle, pair.original, original, ofOriginal, expected),
          Checks.result(bundle, pair.mobile, mobile, ofMobile, outputs),
          Statistics.ratioOfMedians(ofOriginal.blocksMs(), ofMobile.blocksMs()),
          Checks.agreement(bundle, pair.original, expected, outputs),
          before,
          machine.state());
    }
  }

  /** The bundle's images, of the size that all its models take. */
  private List<Picture> pictures(ModelFile model) throws ModelException {
    List<Picture> pictures = new ArrayList<>();
    for (LabeledImage image : bundle.images()) {
      try (InputStream stream = bundle.source().open(image.file)) {
        Picture picture = decoder.decode(stream, model.channels());
        Preparation.checkSize(picture, model);
        pictures.add(picture);
      } catch (IOException | IllegalArgumentException error) {
        throw new ModelException(model.file, image.file + ": " + error.getMessage(), error);
      }
    }
    return pictures;
  }

  /** The inputs of timed runs: some pictures, or noise where there are none. */
  private static List<ByteBuffer> timed(ModelFile model, List<Picture> pictures) {
    List<ByteBuffer> inputs = new ArrayList<>();
    for (Picture picture : pictures.subList(0, Math.min(TIMED_PICTURES, pictures.size()))) {
      inputs.add(Preparation.prepare(picture, model));
    }
    if (inputs.isEmpty()) {
      byte[] noise = new byte[model.input.elements()];
      new Random(0).nextBytes(noise);
      Picture picture = new Picture(model.height(), model.width(), model.channels(), noise);
      inputs.add(Preparation.prepare(picture, model));
    }
    return inputs;
  }

  private void time(Timing original, Timing mobile, Settings settings, Listener listener)
      throws ModelException, CancelledException {
    original.first();
    mobile.first();
    System.gc(); // now, not in a timed run
    int done = 0;
    for (int block = 0; block < settings.blocks; block++) {
      boolean even = block % 2 == 0;
      for (Timing timing : List.of(even ? original : mobile, even ? mobile : original)) {
        cool(settings.cooldownMs, listener);
        timing.block(settings.warmup, settings.runs);
        listener.onProgress(++done, 2 * settings.blocks);
      }
    }
  }

  /** Waits in short steps, so that cancelling takes effect soon. */
  private void cool(int milliseconds, Listener listener) throws CancelledException {
    try {
      for (int left = milliseconds; left > 0; left -= PATIENCE_MS) {
        if (listener.isCancelled()) {
          throw new CancelledException();
        }
        machine.sleep(Math.min(left, PATIENCE_MS));
      }
    } catch (InterruptedException error) {
      throw new CancelledException();
    }
  }

  private static float[][] outputs(
      Runner runner, ModelFile model, List<Picture> pictures, Listener listener)
      throws ModelException, CancelledException {
    float[][] outputs = new float[pictures.size()][];
    for (int i = 0; i < outputs.length; i++) {
      if (listener.isCancelled()) {
        throw new CancelledException();
      }
      outputs[i] = runner.run(Preparation.prepare(pictures.get(i), model));
    }
    return outputs;
  }
}
