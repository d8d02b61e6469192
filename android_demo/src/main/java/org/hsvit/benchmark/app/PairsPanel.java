package org.hsvit.benchmark.app;

import android.content.Context;
import android.os.Bundle;
import android.text.SpannableStringBuilder;
import android.text.style.ForegroundColorSpan;
import android.view.LayoutInflater;
import android.view.View;
import android.view.ViewGroup;
import android.widget.CheckBox;
import android.widget.TextView;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import org.hsvit.benchmark.R;
import org.hsvit.benchmark.bundle.Pair;

/** The bundles as cards, with a check box for each pair. Only pairs of one bundle can be checked. */
final class PairsPanel {
  private static final String KEY = "chosen_bundle";
  private static final String NAMES = "chosen_pairs";

  /** Called when the user chooses pairs, or presses a button of a bundle. */
  interface Actions {
    void onChosen();

    void classify(Library.Entry entry);

    void remove(Library.Entry entry);
  }

  private final Context context;
  private final ViewGroup views;
  private final Actions actions;
  private final BundleWords words;
  private final List<CheckBox> boxes = new ArrayList<>();
  private final List<View> buttons = new ArrayList<>();
  private List<Library.Entry> entries = List.of();
  private String key;
  private List<String> names = new ArrayList<>();
  private boolean enabled = true;

  PairsPanel(ViewGroup views, Actions actions) {
    this.context = views.getContext();
    this.views = views;
    this.actions = actions;
    this.words = new BundleWords(context.getResources());
  }

  /** Shows bundles and keeps the choice. Without one, all pairs of the first usable bundle are chosen. */
  void show(List<Library.Entry> entries) {
    this.entries = entries;
    if (bundle() == null) {
      choose(first());
    }
    views.removeAllViews();
    boxes.clear();
    buttons.clear();
    for (Library.Entry entry : entries) {
      views.addView(card(entry));
    }
    setEnabled(enabled);
    actions.onChosen();
  }

  private Library.Entry first() {
    for (Library.Entry entry : entries) {
      if (entry.bundle != null) {
        return entry;
      }
    }
    return null;
  }

  private void choose(Library.Entry entry) {
    key = entry == null ? null : entry.key;
    names = new ArrayList<>();
    if (entry != null) {
      entry.bundle.pairs().forEach(pair -> names.add(pair.name));
    }
  }

  private View card(Library.Entry entry) {
    View card = inflate(R.layout.bundle, views);
    TextView name = card.findViewById(R.id.bundle_name);
    TextView note = card.findViewById(R.id.bundle_note);
    boolean usable = entry.bundle != null;
    String title = usable ? entry.bundle.name() : entry.key;
    name.setText(Words.wrapped(title));
    note.setText(usable ? facts(entry.bundle) : problem(entry));
    if (usable) {
      ViewGroup pairs = card.findViewById(R.id.pairs);
      entry.bundle.pairs().forEach(pair -> pairs.addView(box(entry, pair, pairs)));
    } else {
      note.setTextColor(context.getColor(R.color.error));
    }
    boolean takesPictures = usable && words.whyNoPictures(entry.bundle) == null;
    boolean detects = usable && entry.bundle.detection() != null;
    int spoken = detects ? R.string.detect_named : R.string.classify_named;
    button(card, R.id.classify, takesPictures, spoken, title, () -> actions.classify(entry));
    card.<TextView>findViewById(R.id.classify).setText(detects ? R.string.detect : R.string.classify);
    boolean removable = !entry.key.equals(Library.OWN);
    button(card, R.id.remove, removable, R.string.remove_named, title, () -> actions.remove(entry));
    return card;
  }

  private void button(View card, int id, boolean visible, int spoken, String title, Runnable action) {
    View button = card.findViewById(id);
    button.setVisibility(visible ? View.VISIBLE : View.GONE);
    button.setContentDescription(context.getString(spoken, title));
    button.setOnClickListener(view -> action.run());
    buttons.add(button);
  }

  /** What the models are for and take, with what they are checked, and why a picture is not for them. */
  private String facts(org.hsvit.benchmark.bundle.Bundle bundle) {
    StringJoiner lines = new StringJoiner("\n");
    lines.add(words.kind(bundle)).add(images(bundle));
    return bundle.pairs().get(0).original.takesClips()
        ? lines.add(words.whyNoPictures(bundle)).toString()
        : lines.toString();
  }

  private String images(org.hsvit.benchmark.bundle.Bundle bundle) {
    int count = bundle.images().size();
    boolean clips = bundle.pairs().get(0).original.takesClips();
    return count == 0
        ? context.getString(R.string.no_images)
        : Words.quantity(context.getResources(), clips ? R.plurals.clips : R.plurals.images, count);
  }

  private String problem(Library.Entry entry) {
    return context.getString(R.string.bundle_not_valid, entry.problem);
  }

  private CheckBox box(Library.Entry entry, Pair pair, ViewGroup parent) {
    CheckBox box = (CheckBox) inflate(R.layout.pair, parent);
    String before = Words.size(context.getResources(), pair.original.bytes);
    String after = Words.size(context.getResources(), pair.mobile.bytes);
    String both = context.getString(R.string.pair, pair.original.title, before, pair.mobile.title, after);
    SpannableStringBuilder text = new SpannableStringBuilder(Words.wrapped(pair.name)).append("\n");
    text.append(Words.wrapped(both), new ForegroundColorSpan(context.getColor(R.color.text_secondary)), 0);
    box.setText(text);
    box.setContentDescription(
        context.getString(
            R.string.pair_spoken, pair.name, pair.original.title, before, pair.mobile.title, after));
    box.setTag(entry.key);
    box.setChecked(entry.key.equals(key) && names.contains(pair.name));
    box.setOnClickListener(view -> toggle(entry.key, pair.name, box.isChecked()));
    boxes.add(box);
    return box;
  }

  private void toggle(String of, String name, boolean checked) {
    if (!of.equals(key)) {
      key = of;
      names.clear();
      boxes.stream().filter(box -> !box.getTag().equals(of)).forEach(box -> box.setChecked(false));
    }
    if (checked) {
      names.add(name);
    } else {
      names.remove(name);
    }
    actions.onChosen();
  }

  private View inflate(int layout, ViewGroup parent) {
    return LayoutInflater.from(context).inflate(layout, parent, false);
  }

  /** The bundle of the chosen pairs, null if there is none. */
  org.hsvit.benchmark.bundle.Bundle bundle() {
    for (Library.Entry entry : entries) {
      if (entry.key.equals(key)) {
        return entry.bundle;
      }
    }
    return null;
  }

  /** The key of that bundle in {@link Library}. */
  String key() {
    return key;
  }

  /** The chosen pairs, in the bundle's order. */
  List<Pair> pairs() {
    List<Pair> chosen = new ArrayList<>();
    if (bundle() != null) {
      for (Pair pair : bundle().pairs()) {
        if (names.contains(pair.name)) {
          chosen.add(pair);
        }
      }
    }
    return chosen;
  }

  void setEnabled(boolean enabled) {
    this.enabled = enabled;
    boxes.forEach(box -> box.setEnabled(enabled));
    buttons.forEach(button -> button.setEnabled(enabled));
  }

  void save(Bundle state) {
    state.putString(KEY, key);
    state.putStringArrayList(NAMES, new ArrayList<>(names));
  }

  void restore(Bundle state) {
    key = state.getString(KEY);
    names = state.getStringArrayList(NAMES);
  }
}
