package org.hsvit.benchmark.measure;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.LabeledImage;
import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.bundle.Pair;
import org.hsvit.benchmark.measure.Listener.Phase;

/**
 * Measures a pair of models side by side and checks their outputs.
 *
 * <p>Each model runs in blocks, and blocks alternate: A B, B A, A B, ..., so that what disturbs one disturbs
 * both. After that both run on all images of the bundle.
 */
public final class Benchmark implements PairMeasurer {
  private static final int TIMED_PICTURES = 8;
  private static final int SAMPLE_MS = 1000; // phones tell their headroom once in a second
  private static final int LEAST_BLOCKS = 2; // a ratio of fewer has no interval

  private final Bundle bundle;
  private final RunnerFactory factory;
  private final PictureDecoder decoder;
  private final Machine machine;
  private boolean picturesChecked;

  public Benchmark(
      Bundle bundle, RunnerFactory factory, PictureDecoder decoder, Machine machine) {
    this.bundle = bundle;
    this.factory = factory;
    this.decoder = decoder;
    this.machine = machine;
  }

  @Override
  public PairResult measure(Pair pair, Settings settings, long limitMs, Listener listener)
      throws ModelException, CancelledException {
    long deadline = machine.nanoTime() + 1_000_000 * limitMs;
    int cooled = new Cooling(machine, listener).untilCool(settings.coolS);
    State before = machine.state();
    if (!settings.cores.isEmpty()) {
      machine.bind(settings.cores);
    }
    Accelerator asked = settings.accelerator();
    checkPictures(pair.original, listener);
    try (Runner original = factory.openChecked(pair.original, bundle.source(), settings);
        Runner mobile = factory.openChecked(pair.mobile, bundle.source(), settings)) {
      Timing ofOriginal = new Timing(original, timed(pair.original), machine, listener);
      Timing ofMobile = new Timing(mobile, timed(pair.mobile), machine, listener);
      List<State> during = time(ofOriginal, ofMobile, pair, settings, deadline, listener);
      List<Extra> extras =
          new ExtraMeasurer(pair, bundle.source(), factory, machine, listener, settings)
              .measure(List.of(ofOriginal, ofMobile), deadline);
      float[][] expected = new float[bundle.images().size()][];
      float[][] outputs = new float[expected.length][];
      for (int i = 0; i < expected.length; i++) {
        Picture picture = picture(i, pair.original);
        expected[i] = output(original, pair.original, picture, listener);
        listener.onProgress(Phase.CHECKING, 2 * i + 1, 2 * expected.length);
        outputs[i] = output(mobile, pair.mobile, picture, listener);
        listener.onProgress(Phase.CHECKING, 2 * i + 2, 2 * expected.length);
      }
      Ratio ratio =
          Statistics.ratioOfMedians(ofOriginal.blocksMs(), ofMobile.blocksMs(), listener);
      return new PairResult(
          pair,
          Checks.result(bundle, pair.original, original, asked, ofOriginal, expected, extras.get(0)),
          Checks.result(bundle, pair.mobile, mobile, asked, ofMobile, outputs, extras.get(1)),
          ratio,
          Checks.agreement(bundle, pair.original, expected, outputs),
          cooled,
          during,
          before,
          machine.state(),
          settings.cores.isEmpty() ? null : machine.allowedCores(),
          null,
          null);
    }
  }

  /** Finds damaged images before the first pair is timed; all models of a bundle take the same size. */
  private void checkPictures(ModelFile model, Listener listener) throws ModelException, CancelledException {
    for (int i = 0; i < bundle.images().size() && !picturesChecked; i++) {
      stopIfCancelled(listener);
      picture(i, model);
    }
    picturesChecked = true;
  }

  /** Reads one of the bundle's images. They are never all in memory: a bundle may have thousands. */
  private Picture picture(int index, ModelFile model) throws ModelException {
    LabeledImage image = bundle.images().get(index);
    try (InputStream stream = bundle.source().open(image.file)) {
      Picture picture = decoder.decode(stream, model.channels());
      Preparation.checkSize(picture, model);
      return picture;
    } catch (IOException | IllegalArgumentException error) {
      throw new ModelException(model.file, image.file + ": " + error.getMessage(), error);
    }
  }

  /** The inputs of timed runs: some pictures, or noise where there are none. */
  private List<ByteBuffer> timed(ModelFile model) throws ModelException {
    List<ByteBuffer> inputs = new ArrayList<>();
    for (int i = 0; i < Math.min(TIMED_PICTURES, bundle.images().size()); i++) {
      inputs.add(Preparation.prepare(picture(i, model), model));
    }
    if (inputs.isEmpty()) {
      inputs.add(Preparation.noise(model));
    }
    return inputs;
  }

  /** Times blocks in turn; gives the phone's states in between. */
  private List<State> time(
      Timing original, Timing mobile, Pair pair, Settings settings, long deadline, Listener listener)
      throws ModelException, CancelledException {
    listener.onProgress(Phase.TIMING, 0, 2 * settings.blocks);
    original.first();
    mobile.first();
    System.gc(); // now, not in a timed run
    Cooling cooling = new Cooling(machine, listener);
    List<State> states = new ArrayList<>();
    ExtraPlan extra = new ExtraPlan(pair, settings, machine.cores());
    long start = machine.nanoTime();
    int done = 0;
    for (int block = 0; block < settings.blocks; block++) {
      long each = block == 0 ? 0 : (machine.nanoTime() - start) / block;
      long later = (long) (1e6 * extra.leftMs(0, each / 2e6));
      if (block >= LEAST_BLOCKS && machine.nanoTime() + each + later > deadline) {
        break;
      }
      boolean even = block % 2 == 0;
      for (Timing timing : List.of(even ? original : mobile, even ? mobile : original)) {
        cooling.pause(settings.cooldownMs);
        timing.block(settings);
        listener.onProgress(Phase.TIMING, ++done, 2 * settings.blocks);
        State now = machine.state();
        if (states.isEmpty() || now.time - states.get(states.size() - 1).time >= SAMPLE_MS) {
          states.add(now);
        }
      }
    }
    return states;
  }

  private static float[] output(Runner runner, ModelFile model, Picture picture, Listener listener)
      throws ModelException, CancelledException {
    stopIfCancelled(listener);
    return runner.run(Preparation.prepare(picture, model));
  }

  private static void stopIfCancelled(Listener listener) throws CancelledException {
    if (listener.isCancelled()) {
      throw new CancelledException();
    }
  }
}
