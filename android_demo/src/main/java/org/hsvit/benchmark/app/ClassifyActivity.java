package org.hsvit.benchmark.app;

import android.app.Activity;
import android.content.ActivityNotFoundException;
import android.content.Intent;
import android.graphics.drawable.BitmapDrawable;
import android.net.Uri;
import android.view.LayoutInflater;
import android.view.View;
import android.view.ViewGroup;
import android.widget.AdapterView;
import android.widget.ArrayAdapter;
import android.widget.ImageView;
import android.widget.LinearLayout;
import android.widget.Spinner;
import android.widget.TextView;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.hsvit.benchmark.R;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.LabeledImage;
import org.hsvit.benchmark.bundle.Pair;
import org.hsvit.benchmark.measure.Prediction;

/** Shows what both models of a pair say of a photo or an image of the bundle: its class, or boxes on it. */
public final class ClassifyActivity extends Activity {
  /** The key of the bundle in {@link Library}. */
  static final String BUNDLE = "bundle";

  private static final int PICK = 1;
  private static final String PAIR = "pair";
  private static final String IMAGE = "image";
  private static final String PHOTO = "photo";

  private String key;
  private Bundle bundle;
  private int pair;
  private int image;

  /** The photo that is shown instead of an image; null for none. */
  private Uri photo;

  /** Number of requests so far: only the result of the latest is shown. */
  private int requests;

  @Override
  protected void onCreate(android.os.Bundle state) {
    super.onCreate(state);
    setContentView(R.layout.activity_classify);
    if (state != null) {
      pair = state.getInt(PAIR);
      image = state.getInt(IMAGE);
      photo = state.getParcelable(PHOTO);
    }
    findViewById(R.id.pick).setOnClickListener(view -> pick());
    findViewById(R.id.previous).setOnClickListener(view -> step(-1));
    findViewById(R.id.next).setOnClickListener(view -> step(1));
    if (Words.areLarge(getResources())) {
      this.<LinearLayout>findViewById(R.id.predictions).setOrientation(LinearLayout.VERTICAL);
    }
    String asked = getIntent().getStringExtra(BUNDLE);
    key = asked == null ? Library.OWN : asked;
    read();
  }

  @Override
  protected void onSaveInstanceState(android.os.Bundle state) {
    super.onSaveInstanceState(state);
    state.putInt(PAIR, pair);
    state.putInt(IMAGE, image);
    state.putParcelable(PHOTO, photo);
  }

  private void read() {
    showMessage(getString(R.string.classify_busy));
    BenchmarkApplication app = BenchmarkApplication.of(this);
    app.inBackground(
        () -> {
          try {
            Bundle read = Library.open(app, key);
            String refusal = new BundleWords(getResources()).whyNoPictures(read);
            return new Opened(refusal == null ? read : null, refusal);
          } catch (IOException error) {
            return new Opened(null, getString(R.string.classify_no_bundle, error.getMessage()));
          }
        },
        this::show);
  }

  /** A bundle, or why there is none. */
  private static final class Opened {
    final Bundle bundle;
    final String problem;

    Opened(Bundle bundle, String problem) {
      this.bundle = bundle;
      this.problem = problem;
    }
  }

  private void show(Opened opened) {
    if (isDestroyed()) {
      return;
    }
    showMessage(opened.problem);
    if (opened.bundle == null) {
      return;
    }
    bundle = opened.bundle;
    if (detects()) {
      setTitle(R.string.detect);
      findViewById(R.id.picture).setVisibility(View.GONE); // each model has its own, with boxes
      this.<LinearLayout>findViewById(R.id.predictions).setOrientation(LinearLayout.VERTICAL);
    }
    this.<TextView>findViewById(R.id.bundle).setText(bundle.name());
    findViewById(R.id.controls).setVisibility(View.VISIBLE);
    int images = bundle.images().size();
    findViewById(R.id.steps).setVisibility(images > 1 ? View.VISIBLE : View.GONE);
    choosePairs();
  }

  private boolean detects() {
    return bundle.detection() != null;
  }

  private void choosePairs() {
    List<String> names = new ArrayList<>();
    for (Pair each : bundle.pairs()) {
      names.add(getString(R.string.classify_pair, each.name));
    }
    Spinner spinner = findViewById(R.id.pair);
    spinner.setAdapter(new ArrayAdapter<>(this, R.layout.classify_pair, names));
    spinner.setSelection(Math.min(pair, names.size() - 1));
    spinner.setOnItemSelectedListener(
        new AdapterView.OnItemSelectedListener() {
          @Override
          public void onItemSelected(AdapterView<?> parent, View view, int position, long id) {
            pair = position;
            spinner.setContentDescription(getString(R.string.classify_pairs, names.get(position)));
            classify();
          }

          @Override
          public void onNothingSelected(AdapterView<?> parent) {}
        });
  }

  private void step(int by) {
    int images = bundle.images().size();
    image = photo == null ? Math.floorMod(image + by, images) : image;
    photo = null;
    classify();
  }

  private void pick() {
    Intent intent = new Intent(Intent.ACTION_OPEN_DOCUMENT);
    intent.addCategory(Intent.CATEGORY_OPENABLE).setType("image/*");
    try {
      startActivityForResult(intent, PICK);
    } catch (ActivityNotFoundException error) {
      showMessage(getString(R.string.classify_no_picker));
    }
  }

  @Override
  protected void onActivityResult(int request, int result, Intent data) {
    if (request == PICK && result == RESULT_OK && data != null) {
      photo = data.getData();
      classify();
    }
  }

  /** Classifies the picture with both models, after removing the results of the last one. */
  private void classify() {
    clear();
    if (bundle == null) {
      return; // it is still being read; then this is called again
    }
    if (photo == null && bundle.images().isEmpty()) {
      showMessage(getString(R.string.classify_no_images));
      return;
    }
    showMessage(getString(detects() ? R.string.detect_busy : R.string.classify_busy));
    int request = ++requests;
    Uri shown = photo;
    LabeledImage labeled = photo == null ? bundle.images().get(image) : null;
    Pair both = bundle.pairs().get(pair);
    BenchmarkApplication app = BenchmarkApplication.of(this);
    PairClassifier classifier = new PairClassifier(app, app.phone, bundle, key, both);
    app.inBackground(
        () -> labeled == null ? classifier.classify(shown) : classifier.classify(labeled),
        result -> {
          if (request == requests && !isDestroyed()) {
            show(result, both, labeled);
          }
        });
  }

  private void clear() {
    this.<ImageView>findViewById(R.id.picture).setImageDrawable(null);
    this.<TextView>findViewById(R.id.caption).setText("");
    this.<ViewGroup>findViewById(R.id.predictions).removeAllViews();
  }

  private void show(PairClassifier.Comparison result, Pair both, LabeledImage labeled) {
    showMessage(result.problem);
    if (result.problem != null) {
      return;
    }
    BitmapDrawable drawable = new BitmapDrawable(getResources(), result.picture);
    drawable.setFilterBitmap(labeled == null); // small images are shown pixel by pixel
    String caption = caption(labeled);
    ImageView picture = findViewById(R.id.picture);
    picture.setImageDrawable(drawable);
    this.<TextView>findViewById(R.id.caption).setText(caption);
    Integer correct = labeled == null ? null : labeled.label;
    column(getString(R.string.results_original), result.original, correct, drawable);
    column(both.name, result.mobile, correct, drawable);
  }

  private String caption(LabeledImage labeled) {
    if (labeled == null) {
      return getString(detects() ? R.string.detect_photo : R.string.classify_photo);
    }
    String number = Words.count(getResources(), image + 1);
    String total = Words.count(getResources(), bundle.images().size());
    return labeled.label == null
        ? getString(R.string.classify_image, number, total)
        : getString(R.string.classify_labeled, number, total, className(labeled.label));
  }

  private String className(int label) {
    return bundle.classNames().isEmpty() ? String.valueOf(label) : bundle.classNames().get(label);
  }

  private void column(
      String name, PairClassifier.Outcome outcome, Integer correct, BitmapDrawable picture) {
    LinearLayout columns = findViewById(R.id.predictions);
    View column = LayoutInflater.from(this).inflate(R.layout.classify_model, columns, false);
    if (columns.getOrientation() == LinearLayout.VERTICAL) {
      column.getLayoutParams().width = ViewGroup.LayoutParams.MATCH_PARENT;
    }
    column.<TextView>findViewById(R.id.name).setText(Words.wrapped(name));
    TextView below = column.findViewById(R.id.time);
    if (outcome.result == null) {
      below.setText(outcome.problem);
    } else {
      below.setText(Words.milliseconds(getResources(), outcome.result.milliseconds));
      if (detects()) {
        showBoxes(column, outcome.result.top, picture);
      }
      List<Prediction> top = outcome.result.top;
      for (int i = 0; i < top.size(); i++) {
        boolean isRight = i == 0 && correct != null && correct == top.get(i).index;
        line(column.findViewById(R.id.top), top.get(i), isRight);
      }
    }
    columns.addView(column);
  }

  private void showBoxes(View column, List<Prediction> boxes, BitmapDrawable picture) {
    BoxesView view = column.findViewById(R.id.boxes);
    view.setVisibility(View.VISIBLE);
    view.show(picture, boxes);
    if (boxes.isEmpty()) {
      TextView nothing = column.findViewById(R.id.nothing);
      String least = Words.percent(getResources(), bundle.detection().scoreThreshold);
      nothing.setText(getString(R.string.detect_nothing, least));
      nothing.setVisibility(View.VISIBLE);
    }
  }

  /**
   * Adds a line.
   *
   * @param isRight whether the model chose this class, and rightly so
   */
  private void line(ViewGroup list, Prediction prediction, boolean isRight) {
    View line = LayoutInflater.from(this).inflate(R.layout.classify_line, list, false);
    String label = isRight ? getString(R.string.classify_correct, prediction.label) : prediction.label;
    line.<TextView>findViewById(R.id.label).setText(label);
    String probability = Words.percent(getResources(), prediction.probability);
    line.<TextView>findViewById(R.id.probability).setText(probability);
    list.addView(line);
  }

  private void showMessage(String message) {
    TextView view = findViewById(R.id.message);
    view.setText(message);
    view.setVisibility(message == null ? View.GONE : View.VISIBLE);
  }
}
