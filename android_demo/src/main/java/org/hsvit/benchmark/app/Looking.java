package org.hsvit.benchmark.app;

import android.content.Context;
import android.graphics.Bitmap;
import android.net.Uri;
import java.io.IOException;
import java.io.InputStream;
import org.hsvit.benchmark.R;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.LabeledImage;
import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.bundle.Pair;
import org.hsvit.benchmark.device.Bitmaps;
import org.hsvit.benchmark.measure.Classifier;
import org.hsvit.benchmark.measure.ModelException;
import org.hsvit.benchmark.measure.Picture;
import org.hsvit.benchmark.measure.Settings;

/** Shows a picture to both models of a pair. Not for the main thread. */
final class Looking {
  private static final int TOP = 5;
  private static final int SHOWN = 512; // least side of a photo on the screen, pixels

  /** What one model says. */
  static final class Said {
    /** Null if the model cannot be run. */
    final Classifier.Answer answer;

    /** Why it cannot; null if it can. */
    final String problem;

    private Said(Classifier.Answer answer, String problem) {
      this.answer = answer;
      this.problem = problem;
    }
  }

  /** A picture, and what both models say of it. */
  static final class Result {
    final Bitmap picture;
    final Said original;
    final Said mobile;

    /** Why there is no picture, and nothing said; null if there is one. */
    final String problem;

    private Result(Bitmap picture, Said original, Said mobile, String problem) {
      this.picture = picture;
      this.original = original;
      this.mobile = mobile;
      this.problem = problem;
    }
  }

  /** A picture of the size that a model takes. */
  private interface Fitting {
    Picture to(ModelFile model) throws IOException;
  }

  private final Context context;
  private final Phone phone;
  private final Bundle bundle;
  private final Pair pair;

  Looking(Context context, Phone phone, Bundle bundle, Pair pair) {
    this.context = context;
    this.phone = phone;
    this.bundle = bundle;
    this.pair = pair;
  }

  /** At an image of the bundle. */
  Result at(LabeledImage image) {
    Fitting fitting =
        model -> {
          try (InputStream stream = bundle.source().open(image.file)) {
            return phone.decoder.decode(stream, model.channels());
          }
        };
    try {
      return both(Bitmaps.toBitmap(fitting.to(pair.original)), fitting);
    } catch (IOException error) {
      return unreadable(error);
    }
  }

  /** At a photo of the user's. */
  Result at(Uri photo) {
    int least = Math.max(SHOWN, Math.max(pair.original.height(), pair.original.width()));
    try {
      Bitmap bitmap = Bitmaps.load(context.getContentResolver(), photo, least);
      return both(bitmap, model -> Bitmaps.fit(bitmap, model));
    } catch (IOException error) {
      return unreadable(error);
    }
  }

  private Result unreadable(IOException error) {
    String problem = context.getString(R.string.classify_unreadable, error.getMessage());
    return new Result(null, null, null, problem);
  }

  private Result both(Bitmap picture, Fitting fitting) throws IOException {
    Said original = ask(pair.original, fitting.to(pair.original));
    Said mobile = ask(pair.mobile, fitting.to(pair.mobile));
    return new Result(picture, original, mobile, null);
  }

  private Said ask(ModelFile model, Picture picture) {
    try (Classifier classifier = Classifier.open(bundle, model, phone.runners, Settings.DEFAULT)) {
      return new Said(classifier.classify(picture, TOP), null);
    } catch (ModelException error) {
      return new Said(null, context.getString(R.string.classify_refused, error.getMessage()));
    }
  }
}
