package org.hsvit.benchmark.app;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;
import static org.robolectric.Shadows.shadowOf;

import android.app.Activity;
import android.app.AlertDialog;
import android.content.ClipData;
import android.content.DialogInterface;
import android.content.Intent;
import android.net.Uri;
import android.os.Looper;
import android.system.ErrnoException;
import android.system.OsConstants;
import android.view.View;
import android.widget.CheckBox;
import android.widget.EditText;
import android.widget.RadioGroup;
import android.widget.TextView;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.hsvit.benchmark.R;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.BundleException;
import org.hsvit.benchmark.bundle.InputRange;
import org.hsvit.benchmark.measure.ModelException;
import org.junit.Rule;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.Robolectric;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.android.controller.ActivityController;
import org.robolectric.shadows.ShadowActivity;
import org.robolectric.shadows.ShadowDialog;

/** Files that the user picks. */
@RunWith(RobolectricTestRunner.class)
public class AddingTest {
  private static final InputRange PIXELS = new InputRange(0, 255);

  @Rule public final AppFixture fixture = new AppFixture();
  private final List<String> described = new ArrayList<>();
  private final List<String> ranges = new ArrayList<>();

  private Uri file(String name, byte[] content) {
    Uri uri = Uri.parse("content://files/" + Uri.encode(name));
    shadowOf(fixture.app.getContentResolver()).registerInputStreamSupplier(
        uri, () -> new ByteArrayInputStream(content));
    return uri;
  }

  private static byte[] model(int size) {
    byte[] content = new byte[size];
    System.arraycopy("TFL3".getBytes(), 0, content, 4, 4);
    content[size - 1] = 7;
    return content;
  }

  private String add(Uri... files) throws Adding.Refusal {
    return new Adding(
            fixture.app,
            (folder, names, range) -> {
              described.addAll(names);
              assertTrue(range == PIXELS);
              return null;
            })
        .add(Arrays.asList(files), PIXELS, List.of());
  }

  private String refusal(Phone.Describer describer, Uri... files) {
    Adding adding = new Adding(fixture.app, describer);
    String message =
        assertThrows(Adding.Refusal.class, () -> adding.add(Arrays.asList(files), PIXELS, List.of())).getMessage();
    assertEquals("nothing is kept", 0, Folders.bundles(fixture.app).list().length);
    return message;
  }

  @Test
  public void filesBecomeABundleTheLargestItsOriginal() throws Exception {
    byte[] original = model(200_000);
    String said = add(file("net int8.tflite", model(100)), file("net.tflite", original));
    assertEquals("2 models were added. The largest, net.tflite, is used as the original.", said);
    assertEquals(List.of("net.tflite", "net int8.tflite"), described);
    File folder = new File(Folders.bundles(fixture.app), "net int8");
    assertArrayEquals(original, Files.readAllBytes(new File(folder, "net.tflite").toPath()));
    assertEquals(2, folder.list().length);
  }

  @Test
  public void anAddedFileDoesNotReplaceAnother() throws Exception {
    String said = add(file("net.tflite", model(100)));
    assertTrue(said, said.startsWith("net.tflite was added. A single model"));
    add(file("net.tflite", model(100)), Uri.parse("content://files/net.tflite"));
    String[] names = Folders.bundles(fixture.app).list();
    Arrays.sort(names);
    assertArrayEquals(new String[] {"net", "net 2"}, names);
    assertTrue(new File(Folders.bundles(fixture.app), "net 2/2 net.tflite").isFile());
  }

  @Test
  public void aModelOfAnotherNameGetsTheSuffixThatBundlesAskFor() throws Exception {
    add(file("net.bin", model(100)), file("NET.TFLITE", model(200)));
    assertEquals(List.of("NET.tflite", "net.bin.tflite"), described);
  }

  @Test
  public void namesCannotLeadElsewhere() throws Exception {
    add(file("../../x:y.tflite", model(100)));
    assertArrayEquals(new String[] {"_.._x_y"}, Folders.bundles(fixture.app).list());
  }

  @Test
  public void whatIsNoModelIsRefused() {
    Phone.Describer never =
        (folder, names, range) -> {
          throw new AssertionError("the runtime must not see it");
        };
    String message = "photo.jpg was not added: it is not a .tflite file.";
    assertEquals(message, refusal(never, file("n.tflite", model(9)), file("photo.jpg", new byte[100])));
    assertEquals(
        "empty.tflite was not added: it is not a .tflite file.",
        refusal(never, file("empty.tflite", new byte[0])));
  }

  @Test
  public void whatTheRuntimeRefusesIsNamed() {
    Phone.Describer refusing =
        (folder, names, range) -> {
          throw new ModelException("net.tflite", "net.tflite does not load: op 42");
        };
    assertEquals(
        "Nothing was added: the runtime of this app does not load net.tflite.\n"
            + "net.tflite does not load: op 42",
        refusal(refusing, file("net.tflite", model(100))));
    Phone.Describer unfit =
        (folder, names, range) -> {
          throw new BundleException("another size");
        };
    assertTrue(refusal(unfit, file("net.tflite", model(100))).endsWith("compared on images.\nanother size"));
  }

  @Test
  public void aFullDiskIsSaidToBeSo() {
    Phone.Describer full =
        (folder, names, range) -> {
          throw new IOException("write failed", new ErrnoException("write", OsConstants.ENOSPC));
        };
    String message = "There is not enough free storage for these files. Free some and try again.";
    assertEquals(message, refusal(full, file("net.tflite", model(100))));
    Phone.Describer fullToo =
        (folder, names, range) -> {
          throw new FileSystemException("/x", null, "No space left on device");
        };
    assertEquals(message, refusal(fullToo, file("net.tflite", model(100))));
  }

  @Test
  public void aFileThatCannotBeReadIsNamed() {
    Uri uri = Uri.parse("content://files/net.tflite");
    shadowOf(fixture.app.getContentResolver()).registerInputStreamSupplier(
        uri,
        () ->
            new InputStream() {
              @Override
              public int read() throws IOException {
                throw new IOException("the cloud is away");
              }
            });
    String message = refusal((folder, names, range) -> null, uri);
    assertEquals("net.tflite cannot be read.\nthe cloud is away", message);
  }

  @Test
  public void anArchiveIsAddedAsABundle() throws Exception {
    Adding adding = new Adding(fixture.app, null);
    Uri uri = file("my models.zip", fixture.archive(null));
    assertEquals("The bundle sums was added.", adding.addArchive(uri));
    assertEquals("The bundle sums was added.", adding.addArchive(uri));
    String[] names = Folders.bundles(fixture.app).list();
    Arrays.sort(names);
    assertArrayEquals(new String[] {"my models", "my models 2"}, names);
    assertEquals("sums", Library.open(fixture.app, "my models 2").name());
    assertNull("a model is no archive", adding.addArchive(file("net.tflite", model(100))));
    assertNull(adding.addArchive(file("empty.zip", new byte[0])));
  }

  @Test
  public void anArchiveThatIsNoBundleIsRefused() throws Exception {
    Uri uri = file("x.zip", fixture.archive("more.txt"));
    String said =
        assertThrows(Adding.Refusal.class, () -> new Adding(fixture.app, null).addArchive(uri)).getMessage();
    assertEquals(
        "x.zip was not added: it is no bundle.\nthe archive has a file that no bundle needs, more.txt", said);
    assertEquals("nothing is kept", 0, Folders.bundles(fixture.app).list().length);
  }

  @Test
  public void aPickedArchiveIsAddedWithoutAQuestion() throws Exception {
    MainActivity activity = Robolectric.buildActivity(MainActivity.class).setup().get();
    activity.findViewById(R.id.add).performClick();
    Intent picked = new Intent().setData(file("my models.zip", fixture.archive(null)));
    Intent asked = shadowOf(activity).getNextStartedActivityForResult().intent;
    shadowOf(activity).receiveResult(asked, Activity.RESULT_OK, picked);
    assertTrue(Screen.text(activity).contains("Adding models…"));
    fixture.await(() -> !fixture.app.additions().isBusy());
    assertNull(ShadowDialog.getLatestDialog());
    assertTrue(Screen.text(activity).contains("The bundle sums was added."));
  }

  /** Opens the first screen and picks two files there. */
  private ActivityController<MainActivity> pick() throws InterruptedException {
    return pick(file("a.tflite", model(100)), file("b.tflite", model(200)));
  }

  private ActivityController<MainActivity> pick(Uri first, Uri second) throws InterruptedException {
    fixture.app.phone =
        new Phone(
            fixture.app.phone.measurers,
            fixture.phone,
            fixture.phone,
            fixture.phone,
            (folder, files, range) -> {
              ranges.add(range.low + " to " + range.high);
              Bundle bundle = fixture.phone.bundle();
              for (String name : fixture.phone.files.keySet()) {
                File file = new File(folder, name);
                file.getParentFile().mkdirs();
                Files.write(file.toPath(), fixture.phone.files.get(name));
              }
              return bundle;
            },
            () -> null);
    ActivityController<MainActivity> controller = Robolectric.buildActivity(MainActivity.class).setup();
    MainActivity activity = controller.get();
    activity.findViewById(R.id.add).performClick();
    ShadowActivity.IntentForResult asked = shadowOf(activity).getNextStartedActivityForResult();
    assertEquals(Intent.ACTION_OPEN_DOCUMENT, asked.intent.getAction());
    assertTrue(asked.intent.getBooleanExtra(Intent.EXTRA_ALLOW_MULTIPLE, false));
    ClipData clip = ClipData.newRawUri("", first);
    clip.addItem(new ClipData.Item(second));
    Intent picked = new Intent();
    picked.setClipData(clip);
    shadowOf(activity).receiveResult(asked.intent, Activity.RESULT_OK, picked);
    fixture.await(() -> !fixture.app.additions().isBusy());
    assertFalse(Screen.text(activity).contains("Adding models…"));
    return controller;
  }

  private static AlertDialog dialog() {
    AlertDialog dialog = (AlertDialog) ShadowDialog.getLatestDialog();
    assertTrue(dialog.isShowing());
    return dialog;
  }

  private static void choose(int range) {
    dialog().findViewById(range).performClick();
  }

  private static EditText field(int id) {
    return dialog().findViewById(id);
  }

  private static void press(int button) {
    dialog().getButton(button).performClick();
  }

  @Test
  public void pickedFilesAreAddedAndSeen() throws Exception {
    ActivityController<MainActivity> controller = pick();
    MainActivity activity = controller.get();
    press(DialogInterface.BUTTON_POSITIVE);
    assertTrue(Screen.text(activity).contains("Adding models…"));
    assertFalse(activity.findViewById(R.id.add).isEnabled());
    fixture.await(() -> !fixture.app.additions().isBusy());
    assertEquals(List.of("0.0 to 255.0"), ranges);
    assertTrue(Screen.text(activity).contains("2 models were added. The largest, b.tflite"));
    assertTrue(activity.findViewById(R.id.add).isEnabled());
    assertTrue(new File(Folders.bundles(fixture.app), "a/b.tflite").isFile());
    controller.recreate();
    assertTrue(Screen.text(controller.get()).contains("2 models were added."));
  }

  @Test
  public void theInputRangeIsChosen() throws Exception {
    for (int range : new int[] {R.id.range_1, R.id.range_signed}) {
      pick();
      choose(range);
      press(DialogInterface.BUTTON_POSITIVE);
      fixture.await(() -> !fixture.app.additions().isBusy());
    }
    assertEquals(List.of("0.0 to 1.0", "-1.0 to 1.0"), ranges);
  }

  @Test
  public void otherNumbersAreCheckedAndUsed() throws Exception {
    pick();
    assertFalse(field(R.id.range_low).isShown());
    choose(R.id.range_other);
    assertTrue(dialog().findViewById(R.id.range_numbers).getVisibility() == View.VISIBLE);
    press(DialogInterface.BUTTON_POSITIVE);
    assertEquals("Enter a number", field(R.id.range_low).getError().toString());
    field(R.id.range_low).setText("2.5");
    field(R.id.range_high).setText("2.5");
    press(DialogInterface.BUTTON_POSITIVE);
    String equal = "Black and white need different numbers";
    assertEquals(equal, field(R.id.range_high).getError().toString());
    field(R.id.range_high).setText("-2.5");
    press(DialogInterface.BUTTON_POSITIVE);
    fixture.await(() -> !fixture.app.additions().isBusy());
    assertEquals(List.of("2.5 to -2.5"), ranges);
  }

  @Test
  public void cancellingAddsNothing() throws Exception {
    ActivityController<MainActivity> controller = pick();
    press(DialogInterface.BUTTON_NEGATIVE);
    shadowOf(Looper.getMainLooper()).idle();
    assertFalse(fixture.app.additions().isBusy());
    ShadowDialog.reset();
    controller.recreate();
    assertNull("not asked again", ShadowDialog.getLatestDialog());
  }

  @Test
  public void rotatingThePhoneKeepsTheQuestion() throws Exception {
    ActivityController<MainActivity> controller = pick();
    choose(R.id.range_other);
    field(R.id.range_low).setText("-3");
    AlertDialog before = dialog();
    controller.recreate();
    assertFalse(before.isShowing());
    assertEquals("-3", field(R.id.range_low).getText().toString());
    field(R.id.range_high).setText("3");
    press(DialogInterface.BUTTON_POSITIVE);
    fixture.await(() -> !fixture.app.additions().isBusy());
    assertEquals(List.of("-3.0 to 3.0"), ranges);
    assertTrue(new File(Folders.bundles(fixture.app), "a/b.tflite").isFile());
  }

  /** A file with metadata, see {@code tests/android/metadata_files.py}. */
  private Uri withMetadata(String name) throws IOException {
    File file = new File("../tests/android/data/metadata_" + name + ".tflite");
    return file(name + ".tflite", Files.readAllBytes(file.toPath()));
  }

  private static CheckBox classNames() {
    return dialog().findViewById(R.id.class_names);
  }

  private static String said() {
    return dialog().<TextView>findViewById(R.id.range_said).getText().toString();
  }

  private List<String> added(String key) throws Exception {
    press(DialogInterface.BUTTON_POSITIVE);
    fixture.await(() -> !fixture.app.additions().isBusy());
    return Library.open(fixture.app, key).classNames();
  }

  @Test
  public void whatAModelSaysOfItselfIsFilledIn() throws Exception {
    pick(withMetadata("signed"), file("b.tflite", model(200)));
    assertEquals("By its metadata: -1 to 1", said());
    assertEquals(R.id.range_signed, dialog().<RadioGroup>findViewById(R.id.ranges).getCheckedRadioButtonId());
    String names = "Name its 3 classes as its metadata does: tabby, größe, mit Komma, zebra …";
    assertEquals(names, classNames().getText().toString());
    assertEquals(List.of("tabby", "größe, mit Komma", "zebra"), added("signed"));
    assertEquals(List.of("-1.0 to 1.0"), ranges);
    assertEquals("no copy is left", 0, fixture.app.getCacheDir().list().length);
  }

  @Test
  public void whatAModelSaysOfItselfCanBeChanged() throws Exception {
    ActivityController<MainActivity> controller = pick(withMetadata("signed"), file("b.tflite", model(200)));
    choose(R.id.range_255);
    classNames().performClick();
    controller.recreate();
    assertFalse(classNames().isChecked());
    assertEquals("those of before", List.of("zero", "one", "two"), added("signed"));
    assertEquals(List.of("0.0 to 255.0"), ranges);
  }

  @Test
  public void otherRangesOfMetadataAreNumbersToChange() throws Exception {
    pick(withMetadata("none"), withMetadata("other"));
    assertEquals("-0.5", field(R.id.range_low).getText().toString());
    assertEquals("2", field(R.id.range_high).getText().toString());
    assertEquals(View.GONE, classNames().getVisibility());
    added("none");
    assertEquals(List.of("-0.5 to 2.0"), ranges);
  }

  @Test
  public void coloursWithRangesOfTheirOwnAreTold() throws Exception {
    pick(withMetadata("colours"), file("b.tflite", model(200)));
    assertTrue(said(), said().contains("(x − 123.7) / 58.40, (x − 116.3) / 57.12, (x − 103.5) / 57.38"));
    assertTrue(said(), said().contains("which this app does not do"));
  }

  @Test
  public void modelsWithoutMetadataAreAskedForAsBefore() throws Exception {
    pick();
    assertEquals(View.GONE, dialog().findViewById(R.id.range_said).getVisibility());
    assertEquals(View.GONE, classNames().getVisibility());
  }
}
