package org.hsvit.benchmark.app;

import android.app.AlertDialog;
import android.content.Context;
import android.content.DialogInterface;
import android.os.Bundle;
import android.view.LayoutInflater;
import android.view.View;
import android.widget.EditText;
import android.widget.RadioGroup;
import java.util.function.Consumer;
import org.hsvit.benchmark.R;
import org.hsvit.benchmark.bundle.InputRange;

/** Asks which numbers black and white pixels have in the inputs of added models. */
final class RangeDialog {
  private final Context context;
  private final View view;
  private final AlertDialog dialog;
  private final Consumer<InputRange> chosen;

  /**
   * @param chosen receives the range that the user chooses
   * @param cancelled called if the user chooses none
   */
  RangeDialog(Context context, Consumer<InputRange> chosen, Runnable cancelled) {
    this.context = context;
    this.chosen = chosen;
    view = LayoutInflater.from(context).inflate(R.layout.input_range, null);
    View numbers = view.findViewById(R.id.range_numbers);
    this.<RadioGroup>find(R.id.ranges)
        .setOnCheckedChangeListener(
            (group, id) -> numbers.setVisibility(id == R.id.range_other ? View.VISIBLE : View.GONE));
    dialog =
        new AlertDialog.Builder(context)
            .setTitle(R.string.range_title)
            .setView(view)
            .setPositiveButton(R.string.add, null) // its listener would close the dialog in any case
            .setNegativeButton(R.string.cancel, (shown, button) -> shown.cancel())
            .setOnCancelListener(shown -> cancelled.run())
            .create();
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
      chosen.accept(range);
    }
  }

  /** The chosen range; null if a number is missing or wrong, which is then marked. */
  private InputRange range() {
    int id = this.<RadioGroup>find(R.id.ranges).getCheckedRadioButtonId();
    if (id == R.id.range_255) {
      return new InputRange(0, 255);
    }
    if (id == R.id.range_1) {
      return new InputRange(0, 1);
    }
    if (id == R.id.range_signed) {
      return new InputRange(-1, 1);
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
