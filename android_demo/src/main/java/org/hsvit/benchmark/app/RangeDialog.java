package org.hsvit.benchmark.app;

import android.app.AlertDialog;
import android.content.Context;
import android.content.DialogInterface;
import android.os.Bundle;
import android.view.LayoutInflater;
import android.view.View;
import android.widget.CheckBox;
import android.widget.EditText;
import android.widget.RadioGroup;
import android.widget.TextView;
import java.math.BigDecimal;
import java.util.List;
import java.util.function.BiConsumer;
import org.hsvit.benchmark.R;
import org.hsvit.benchmark.bundle.InputRange;
import org.hsvit.benchmark.device.TfliteMetadata;

/**
 * Asks which numbers black and white pixels have in the inputs of added models, and whether their classes have the
 * names that they say. What the models say of themselves is filled in, and can be changed.
 */
final class RangeDialog {
  private static final int[] BUTTONS = {R.id.range_255, R.id.range_1, R.id.range_signed};
  private static final InputRange[] RANGES = {
    new InputRange(0, 255), new InputRange(0, 1), new InputRange(-1, 1)
  };
  private static final int SHOWN = 3; // names of classes

  private final Context context;
  private final View view;
  private final AlertDialog dialog;
  private final TfliteMetadata known;
  private final BiConsumer<InputRange, List<String>> chosen;

  /**
   * @param known what the models say of themselves
   * @param chosen receives the range and the names of the classes, which may be none
   * @param cancelled called if the user chooses none
   */
  RangeDialog(
      Context context,
      TfliteMetadata known,
      BiConsumer<InputRange, List<String>> chosen,
      Runnable cancelled) {
    this.context = context;
    this.known = known;
    this.chosen = chosen;
    view = LayoutInflater.from(context).inflate(R.layout.input_range, null);
    View numbers = view.findViewById(R.id.range_numbers);
    this.<RadioGroup>find(R.id.ranges)
        .setOnCheckedChangeListener(
            (group, id) -> numbers.setVisibility(id == R.id.range_other ? View.VISIBLE : View.GONE));
    fillIn();
    dialog =
        new AlertDialog.Builder(context)
            .setTitle(R.string.range_title)
            .setView(view)
            .setPositiveButton(R.string.add, null) // its listener would close the dialog in any case
            .setNegativeButton(R.string.cancel, (shown, button) -> shown.cancel())
            .setOnCancelListener(shown -> cancelled.run())
            .create();
  }

  private void fillIn() {
    TextView said = find(R.id.range_said);
    if (known.range != null) {
      fillIn(known.range);
      said.setText(context.getString(R.string.range_said, text(known.range.low), text(known.range.high)));
    } else if (known.ofColours != null) {
      said.setText(context.getString(R.string.range_of_colours, known.ofColours));
    } else {
      said.setVisibility(View.GONE);
    }
    CheckBox names = find(R.id.class_names);
    int count = known.classNames.size();
    names.setVisibility(count > 0 ? View.VISIBLE : View.GONE);
    names.setChecked(count > 0);
    String some = String.join(", ", known.classNames.subList(0, Math.min(SHOWN, count)));
    names.setText(Words.quantity(context.getResources(), R.plurals.range_class_names, count, some));
  }

  private void fillIn(InputRange range) {
    RadioGroup group = find(R.id.ranges);
    for (int i = 0; i < RANGES.length; i++) {
      if (RANGES[i].low == range.low && RANGES[i].high == range.high) {
        group.check(BUTTONS[i]);
        return;
      }
    }
    group.check(R.id.range_other);
    this.<EditText>find(R.id.range_low).setText(text(range.low));
    this.<EditText>find(R.id.range_high).setText(text(range.high));
  }

  /** A number as it is typed in. */
  private static String text(double value) {
    return new BigDecimal(String.valueOf(value)).stripTrailingZeros().toPlainString();
  }

  /**
   * Shows the dialog.
   *
   * @param state what {@link #save()} returned; null for none
   */
  void show(Bundle state) {
    dialog.show();
    if (state != null) {
      dialog.onRestoreInstanceState(state);
    }
    dialog.getButton(DialogInterface.BUTTON_POSITIVE).setOnClickListener(button -> accept());
  }

  /** The user's input so far; null if the dialog is closed. */
  Bundle save() {
    return dialog.isShowing() ? dialog.onSaveInstanceState() : null;
  }

  void close() {
    dialog.dismiss();
  }

  private void accept() {
    InputRange range = range();
    if (range != null) {
      close();
      boolean named = this.<CheckBox>find(R.id.class_names).isChecked();
      chosen.accept(range, named ? known.classNames : List.of());
    }
  }

  /** The chosen range; null if a number is missing or wrong, which is then marked. */
  private InputRange range() {
    int id = this.<RadioGroup>find(R.id.ranges).getCheckedRadioButtonId();
    for (int i = 0; i < RANGES.length; i++) {
      if (id == BUTTONS[i]) {
        return RANGES[i];
      }
    }
    Double low = number(find(R.id.range_low));
    Double high = number(find(R.id.range_high));
    if (low == null || high == null) {
      return null;
    }
    try {
      return new InputRange(low, high);
    } catch (IllegalArgumentException error) {
      this.<EditText>find(R.id.range_high).setError(context.getString(R.string.range_equal));
      return null;
    }
  }

  private Double number(EditText field) {
    try {
      return Double.valueOf(field.getText().toString());
    } catch (NumberFormatException error) {
      field.setError(context.getString(R.string.range_not_a_number));
      return null;
    }
  }

  private <T extends View> T find(int id) {
    return view.findViewById(id);
  }
}
