package org.hsvit.benchmark.app;

import android.os.Build;
import android.os.Bundle;
import android.view.LayoutInflater;
import android.view.View;
import android.view.ViewGroup;
import android.widget.CheckBox;
import android.widget.EditText;
import android.widget.TextView;
import java.util.ArrayList;
import java.util.List;
import org.hsvit.benchmark.R;
import org.hsvit.benchmark.measure.Accelerator;
import org.hsvit.benchmark.measure.Settings;

/** Input fields for {@link Settings}. */
final class SettingsPanel {
  private static final String STATE = "settings";
  private static final float PALE = 0.65f; // what is still read: a contrast of 4.5

  private final ViewGroup views;
  private final EditText threads;
  private final EditText blocks;
  private final EditText runs;
  private final EditText block;
  private final EditText warmup;
  private final EditText cooldown;
  private final EditText limit;
  private final EditText cool;
  private final EditText sustained;
  private final ViewGroup choices;
  private final CoresChoice cores;

  SettingsPanel(ViewGroup views) {
    this.views = views;
    Settings usual = Settings.DEFAULT;
    threads = field(R.string.threads, usual.threads);
    blocks = field(R.string.blocks, usual.blocks);
    runs = field(R.string.runs, usual.runs);
    block = field(R.string.block_time, usual.blockMs);
    warmup = field(R.string.warmup, usual.warmupMs);
    cooldown = field(R.string.cooldown, usual.cooldownMs);
    limit = field(R.string.limit, usual.limitS);
    cool = field(R.string.cool, usual.coolS);
    sustained = field(R.string.sustained, usual.sustainedS);
    View choice = inflate(R.layout.choice);
    choices = choice.findViewById(R.id.choices);
    cores = new CoresChoice(choice, BenchmarkApplication.of(views.getContext()).phone.device().clusters);
    // NNAPI exists since API 27.
    choice.findViewById(R.id.npu).setVisibility(Build.VERSION.SDK_INT >= 27 ? View.VISIBLE : View.GONE);
  }

  private EditText field(int label, int value) {
    View row = inflate(R.layout.setting);
    TextView text = row.findViewById(R.id.setting_label);
    EditText field = row.findViewById(R.id.setting_value);
    field.setId(View.generateViewId()); // which the label refers to
    text.setText(label);
    text.setLabelFor(field.getId());
    field.setText(String.valueOf(value));
    return field;
  }

  private View inflate(int layout) {
    View view = LayoutInflater.from(views.getContext()).inflate(layout, views, false);
    views.addView(view);
    return view;
  }

  /**
   * The settings in the fields. A field without a number is marked.
   *
   * @throws IllegalArgumentException a field is empty or out of its range, or there is nothing to run on
   */
  Settings read() {
    List<Accelerator> accelerators = new ArrayList<>();
    int[] boxes = {R.id.cpu, R.id.gpu, R.id.npu}; // in the order of Accelerator
    for (Accelerator accelerator : Accelerator.values()) {
      if (isChecked(boxes[accelerator.ordinal()])) {
        accelerators.add(accelerator);
      }
    }
    if (accelerators.isEmpty()) {
      throw new IllegalArgumentException(views.getContext().getString(R.string.no_accelerator));
    }
    return new Settings.Builder()
        .threads(number(threads))
        .blocks(number(blocks))
        .runs(number(runs))
        .blockMs(number(block))
        .warmupMs(number(warmup))
        .cooldownMs(number(cooldown))
        .limitS(number(limit))
        .coolS(number(cool))
        .sustainedS(number(sustained))
        .threadSweep(isChecked(R.id.thread_sweep))
        .accelerators(accelerators)
        .xnnpack(isChecked(R.id.xnnpack))
        .cores(cores.cores())
        .fp16(isChecked(R.id.fp16))
        .build();
  }

  private boolean isChecked(int id) {
    return choices.<CheckBox>findViewById(id).isChecked();
  }

  private int number(EditText field) {
    try {
      return Integer.parseInt(field.getText().toString());
    } catch (NumberFormatException error) {
      String message = views.getContext().getString(R.string.not_a_number);
      field.setError(message);
      field.requestFocus();
      throw new IllegalArgumentException(message, error);
    }
  }

  void setEnabled(boolean enabled) {
    views.setAlpha(enabled ? 1 : PALE);
    for (EditText field : fields()) {
      field.setEnabled(enabled);
    }
    for (int i = 0; i < choices.getChildCount(); i++) {
      choices.getChildAt(i).setEnabled(enabled);
    }
  }

  void save(Bundle state) {
    String[] texts = new String[fields().length];
    for (int i = 0; i < texts.length; i++) {
      texts[i] = fields()[i].getText().toString();
    }
    state.putStringArray(STATE, texts);
  }

  void restore(Bundle state) {
    String[] texts = state.getStringArray(STATE);
    for (int i = 0; texts != null && i < texts.length; i++) {
      fields()[i].setText(texts[i]);
    }
  }

  private EditText[] fields() {
    return new EditText[] {threads, blocks, runs, block, warmup, cooldown, limit, cool, sustained};
  }
}
