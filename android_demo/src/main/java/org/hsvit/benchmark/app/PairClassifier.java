package org.hsvit.benchmark.app;

import android.content.Context;
import android.graphics.Bitmap;
import android.net.Uri;
import android.util.Log;
import java.io.IOException;
import java.io.InputStream;
import org.hsvit.benchmark.R;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.LabeledImage;
import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.bundle.Pair;
import org.hsvit.benchmark.device.Bitmaps;
import org.hsvit.benchmark.measure.CancelledException;
import org.hsvit.benchmark.measure.Classifier;
import org.hsvit.benchmark.measure.ModelException;
import org.hsvit.benchmark.measure.Picture;

/** Shows a picture to both models of a pair. Not for the main thread. */
final class PairClassifier {
  private static final int TOP = 5;
  private static final int LEAST_SIDE = 512; // of a photo on the screen, pixels

  /** The result of one model. */
  static final class Outcome {
    /** Null if the model could not be run. */
    final Classifier.Result result;

    /** Why it could not be run; null if it was. */
    final String problem;

    private Outcome(Classifier.Result result, String problem) {
      this.result = result;
      this.problem = problem;
    }
  }

  /** A picture, and the results of both models. */
  static final class Comparison {
    final Bitmap picture;
    final Outcome original;
    final Outcome mobile;

    /** Why the picture could not be read; null if it was. */
    final String problem;

    private Comparison(Bitmap picture, Outcome original, Outcome mobile, String problem) {
      this.picture = picture;
      this.original = original;
      this.mobile = mobile;
      this.problem = problem;
    }
  }

  /** Gives the picture in the size that a model takes. */
  private interface Fitting {
    Picture to(ModelFile model) throws IOException;
  }

  private final Context context;
  private final Phone phone;
  private final Bundle bundle;
  private final String key;
  private final Pair pair;

  /**
   * @param key of the bundle in {@link Library}
   */
  PairClassifier(Context context, Phone phone, Bundle bundle, String key, Pair pair) {
    this.context = context;
    this.phone = phone;
    this.bundle = bundle;
    this.key = key;
    this.pair = pair;
  }

  /** Classifies an image of the bundle. */
  Comparison classify(LabeledImage image) {
    Fitting fitting =
        model -> {
          try (InputStream stream = bundle.source().open(image.file)) {
            return phone.decoder.decode(stream, model.channels());
          }
        };
    try {
      return both(Bitmaps.toBitmap(fitting.to(pair.original)), fitting);
    } catch (IOException | RuntimeException | OutOfMemoryError error) {
      return unreadable(error);
    }
  }

  /** Classifies a photo of the user. */
  Comparison classify(Uri photo) {
    int least = Math.max(LEAST_SIDE, Math.max(pair.original.height(), pair.original.width()));
    try {
      Bitmap bitmap = Bitmaps.load(context.getContentResolver(), photo, least);
      Fitting fitting = model -> Bitmaps.fit(bitmap, model);
      boolean hasBoxes = bundle.detection() != null; // which are those of what the model sees
      return both(hasBoxes ? Bitmaps.toBitmap(fitting.to(pair.original)) : bitmap, fitting);
    } catch (IOException | RuntimeException | OutOfMemoryError error) {
      return unreadable(error);
    }
  }

  private Comparison unreadable(Throwable error) {
    String problem = context.getString(R.string.classify_unreadable, Words.problem(error));
    return new Comparison(null, null, null, problem);
  }

  private Comparison both(Bitmap picture, Fitting fitting) throws IOException {
    Unfinished unfinished = BenchmarkApplication.of(context).unfinished();
    unfinished.begin(context.getString(R.string.work_classifying, pair.name));
    Outcome original = classify(pair.original, fitting.to(pair.original));
    Outcome mobile = classify(pair.mobile, fitting.to(pair.mobile));
    unfinished.end();
    return new Comparison(picture, original, mobile, null);
  }

  private Outcome classify(ModelFile model, Picture picture) {
    // The app's own models were tried before it was built; others may crash the runtime.
    boolean isOwn = key.equals(Library.OWN);
    Isolation place = isOwn ? Isolation.none(BenchmarkApplication.of(context)) : phone.isolation;
    try {
      Work<Classifier.Result> work = new ClassifyWork(key, model, picture, TOP);
      return new Outcome(place.run(work, bundle, Isolation.SILENT), null);
    } catch (ModelException | CancelledException | IOException error) {
      return new Outcome(null, context.getString(R.string.classify_refused, error.getMessage()));
    } catch (RuntimeException | LinkageError | OutOfMemoryError error) {
      Log.e(Autorun.TAG, "classifying by " + model.file, error);
      return new Outcome(null, context.getString(R.string.classify_refused, Words.problem(error)));
    }
  }
}
