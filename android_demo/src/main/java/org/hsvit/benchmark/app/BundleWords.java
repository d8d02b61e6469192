package org.hsvit.benchmark.app;

import android.content.res.Resources;
import org.hsvit.benchmark.R;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.ModelFile;

/** What a bundle's models are for and what they take, in words. */
final class BundleWords {
  private final Resources resources;

  BundleWords(Resources resources) {
    this.resources = resources;
  }

  /** Such as "detection of pictures, 320 × 320 pixels, colour". */
  String kind(Bundle bundle) {
    ModelFile model = model(bundle);
    String width = Words.count(resources, model.width());
    String height = Words.count(resources, model.height() / model.frames());
    String colours =
        resources.getString(model.channels() == 1 ? R.string.kind_gray : R.string.kind_colour);
    String task = task(bundle);
    return model.takesClips()
        ? resources.getString(
            R.string.kind_clips, task, Words.count(resources, model.frames()), width, height, colours)
        : resources.getString(R.string.kind_pictures, task, width, height, colours);
  }

  /** Why the models say nothing of a picture; null where they do. */
  String whyNoPictures(Bundle bundle) {
    if (model(bundle).takesClips()) {
      String frames = Words.count(resources, model(bundle).frames());
      return resources.getString(R.string.classify_clips, frames);
    }
    boolean says = bundle.task().isClassification() || bundle.detection() != null;
    return says ? null : resources.getString(R.string.classify_other_task, task(bundle));
  }

  private static ModelFile model(Bundle bundle) {
    return bundle.pairs().get(0).original;
  }

  private static String task(Bundle bundle) {
    return bundle.task().name.replace('_', ' ');
  }
}
