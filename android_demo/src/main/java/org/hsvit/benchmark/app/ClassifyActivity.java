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

/** Shows a photo or an image of the bundle to both models of a pair, and what they say side by side. */
public final class ClassifyActivity extends Activity {
  /** The key of the bundle in {@link Library}. */
  static final String BUNDLE = "bundle";

  private static final int PICK = 1;
  private static final String PAIR = "pair";
  private static final String IMAGE = "image";
  private static final String PHOTO = "photo";
  private static final float LARGE = 1.4f; // two columns have no room for letters larger than that

  private Bundle bundle;
  private int pair;
  private int image;

  /** What is looked at instead of an image; null for none. */
  private Uri photo;

  /** How often was asked: only the last answer is shown. */
  private int asked;

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
    if (getResources().getConfiguration().fontScale > LARGE) {
      this.<LinearLayout>findViewById(R.id.answers).setOrientation(LinearLayout.VERTICAL);
    }
    read(getIntent().getStringExtra(BUNDLE));
  }

  @Override
  protected void onSaveInstanceState(android.os.Bundle state) {
    super.onSaveInstanceState(state);
    state.putInt(PAIR, pair);
    state.putInt(IMAGE, image);
    state.putParcelable(PHOTO, photo);
  }

  private void read(String key) {
    say(getString(R.string.classify_busy));
    BenchmarkApplication app = BenchmarkApplication.of(this);
    app.inBackground(
        () -> {
          try {
            return new Opened(Library.open(app, key == null ? Library.OWN : key), null);
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
    say(opened.problem);
    if (opened.bundle == null) {
      return;
    }
    bundle = opened.bundle;
    this.<TextView>findViewById(R.id.bundle).setText(bundle.name());
    findViewById(R.id.controls).setVisibility(View.VISIBLE);
    int images = bundle.images().size();
    findViewById(R.id.steps).setVisibility(images > 1 ? View.VISIBLE : View.GONE);
    choosePairs();
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
            look();
          }

          @Override
          public void onNothingSelected(AdapterView<?> parent) {}
        });
  }

  private void step(int by) {
    int images = bundle.images().size();
    image = photo == null ? Math.floorMod(image + by, images) : image;
    photo = null;
    look();
  }

  private void pick() {
    Intent intent = new Intent(Intent.ACTION_OPEN_DOCUMENT);
    intent.addCategory(Intent.CATEGORY_OPENABLE).setType("image/*");
    try {
      startActivityForResult(intent, PICK);
    } catch (ActivityNotFoundException error) {
      say(getString(R.string.classify_no_picker));
    }
  }

  @Override
  protected void onActivityResult(int request, int result, Intent data) {
    if (request == PICK && result == RESULT_OK && data != null) {
      photo = data.getData();
      look();
    }
  }

  /** Asks both models. What they said before is gone meanwhile: it is of another picture. */
  private void look() {
    clear();
    if (bundle == null) {
      return; // it is being read, and then asked
    }
    if (photo == null && bundle.images().isEmpty()) {
      say(getString(R.string.classify_no_images));
      return;
    }
    say(getString(R.string.classify_busy));
    int question = ++asked;
    Uri shown = photo;
    LabeledImage labeled = photo == null ? bundle.images().get(image) : null;
    Pair both = bundle.pairs().get(pair);
    BenchmarkApplication app = BenchmarkApplication.of(this);
    Looking looking = new Looking(app, app.phone, bundle, both);
    app.inBackground(
        () -> labeled == null ? looking.at(shown) : looking.at(labeled),
        result -> {
          if (question == asked && !isDestroyed()) {
            show(result, both, labeled);
          }
        });
  }

  private void clear() {
    this.<ImageView>findViewById(R.id.picture).setImageDrawable(null);
    this.<TextView>findViewById(R.id.caption).setText("");
    this.<ViewGroup>findViewById(R.id.answers).removeAllViews();
  }

  private void show(Looking.Result result, Pair both, LabeledImage labeled) {
    say(result.problem);
    if (result.problem != null) {
      return;
    }
    BitmapDrawable drawable = new BitmapDrawable(getResources(), result.picture);
    drawable.setFilterBitmap(labeled == null); // few pixels are to be seen as they are
    String caption = caption(labeled);
    ImageView picture = findViewById(R.id.picture);
    picture.setImageDrawable(drawable);
    this.<TextView>findViewById(R.id.caption).setText(caption);
    Integer right = labeled == null ? null : labeled.label;
    column(getString(R.string.results_original), result.original, right);
    column(both.name, result.mobile, right);
  }

  private String caption(LabeledImage labeled) {
    if (labeled == null) {
      return getString(R.string.classify_photo);
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

  private void column(String name, Looking.Said said, Integer right) {
    LinearLayout columns = findViewById(R.id.answers);
    View column = LayoutInflater.from(this).inflate(R.layout.classify_answer, columns, false);
    if (columns.getOrientation() == LinearLayout.VERTICAL) {
      column.getLayoutParams().width = ViewGroup.LayoutParams.MATCH_PARENT;
    }
    column.<TextView>findViewById(R.id.name).setText(name);
    TextView below = column.findViewById(R.id.time);
    if (said.answer == null) {
      below.setText(said.problem);
    } else {
      below.setText(Words.milliseconds(getResources(), said.answer.milliseconds));
      for (Prediction prediction : said.answer.top) {
        line(column.findViewById(R.id.top), prediction, right);
      }
    }
    columns.addView(column);
  }

  private void line(ViewGroup list, Prediction prediction, Integer right) {
    View line = LayoutInflater.from(this).inflate(R.layout.classify_line, list, false);
    boolean isRight = right != null && right == prediction.index;
    String label = isRight ? getString(R.string.classify_right, prediction.label) : prediction.label;
    line.<TextView>findViewById(R.id.label).setText(label);
    line.<TextView>findViewById(R.id.share).setText(Words.percent(getResources(), prediction.share));
    list.addView(line);
  }

  private void say(String message) {
    TextView view = findViewById(R.id.message);
    view.setText(message);
    view.setVisibility(message == null ? View.GONE : View.VISIBLE);
  }
}
