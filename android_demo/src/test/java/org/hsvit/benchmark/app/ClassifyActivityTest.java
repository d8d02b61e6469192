package org.hsvit.benchmark.app;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;
import static org.robolectric.Shadows.shadowOf;

import android.app.Activity;
import android.content.Intent;
import android.graphics.Bitmap;
import android.graphics.Color;
import android.graphics.drawable.BitmapDrawable;
import android.net.Uri;
import android.view.View;
import android.view.ViewGroup;
import android.widget.ImageView;
import android.widget.Spinner;
import android.widget.TextView;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.util.List;
import java.util.StringJoiner;
import org.hsvit.benchmark.R;
import org.json.JSONArray;
import org.json.JSONObject;
import org.junit.Rule;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.Robolectric;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.android.controller.ActivityController;
import org.robolectric.annotation.Config;

/** The classify screen, on models that sum every third of 16 values: white sums to 12, 10, 10. */
@RunWith(RobolectricTestRunner.class)
@Config(qualifiers = "w360dp-h760dp-xhdpi")
public class ClassifyActivityTest extends Looks {
  private static final Uri PHOTO = Uri.parse("content://photos/1");

  @Rule public final AppFixture fixture = new AppFixture();
  private ActivityController<ClassifyActivity> controller;

  public ClassifyActivityTest() {
    super("classify");
  }

  @Override
  Activity full() throws Exception {
    fixture.phone.described.getJSONArray("pairs").getJSONObject(0).put("name", "small_int8");
    fixture.push();
    return open();
  }

  private ClassifyActivity open() throws Exception {
    return open(AppFixture.KEY);
  }

  private ClassifyActivity open(String key) throws Exception {
    Intent intent = new Intent(fixture.app, ClassifyActivity.class).putExtra("bundle", key);
    controller = Robolectric.buildActivity(ClassifyActivity.class, intent).setup();
    return classified();
  }

  private ClassifyActivity classified() throws Exception {
    fixture.await(() -> !text().contains("Classifying…") && !text().contains("Finding objects…"));
    return controller.get();
  }

  private String text() {
    return Screen.text(controller.get());
  }

  /** The classes of one model, one view on each line. */
  private String column(int position) {
    View column = controller.get().<ViewGroup>findViewById(R.id.predictions).getChildAt(position);
    StringJoiner lines = new StringJoiner("\n", "", "\n");
    lines.add(column.<TextView>findViewById(R.id.name).getText());
    lines.add(column.<TextView>findViewById(R.id.time).getText());
    ViewGroup top = column.findViewById(R.id.top);
    for (int i = 0; i < top.getChildCount(); i++) {
      lines.add(top.getChildAt(i).<TextView>findViewById(R.id.label).getText());
      lines.add(top.getChildAt(i).<TextView>findViewById(R.id.probability).getText());
    }
    return lines.toString();
  }

  private void click(int id) throws Exception {
    controller.get().findViewById(id).performClick();
    classified();
  }

  private void assertShown(String part) {
    assertTrue(text(), text().contains(part));
  }

  private static byte[] png(int colour) {
    Bitmap bitmap = Bitmap.createBitmap(60, 40, Bitmap.Config.ARGB_8888);
    bitmap.eraseColor(colour);
    ByteArrayOutputStream stream = new ByteArrayOutputStream();
    bitmap.compress(Bitmap.CompressFormat.PNG, 100, stream);
    return stream.toByteArray();
  }

  private void pick(byte[] photo) throws Exception {
    if (photo != null) {
      shadowOf(fixture.app.getContentResolver())
          .registerInputStreamSupplier(PHOTO, () -> new ByteArrayInputStream(photo));
    }
    Activity activity = controller.get();
    activity.findViewById(R.id.pick).performClick();
    Intent asked = shadowOf(activity).getNextStartedActivity();
    assertEquals(Intent.ACTION_OPEN_DOCUMENT, asked.getAction());
    assertEquals("image/*", asked.getType());
    shadowOf(activity).receiveResult(asked, Activity.RESULT_OK, new Intent().setData(PHOTO));
    classified();
  }

  @Test
  public void anImageOfTheBundleIsShownToBothModels() throws Exception {
    fixture.push();
    open();
    click(R.id.next); // the first image's label is wrong
    JSONArray images = fixture.phone.described.getJSONArray("images");
    String right = List.of("zero", "one", "two").get(images.getJSONObject(1).getInt("label"));
    assertShown("Image 2 of 10. Correct class: " + right);
    String number = "\\d+(\\.\\d+)?";
    String top = number + " ms\n" + right + " ✓\n" + number + "%\n(\\w+\n" + number + "%\n){2}";
    assertTrue(column(0), column(0).matches("original\n" + top));
    assertTrue(column(1), column(1).matches("int8\n" + top));
  }

  @Test
  public void aCorrectClassThatIsNotChosenHasNoTick() throws Exception {
    fixture.push();
    open(); // with the first image, whose label is not what the models say
    String correct = text().replaceFirst("(?s).*Correct class: (\\w+).*", "$1");
    assertTrue(column(0), column(0).contains("\n" + correct + "\n"));
    assertFalse(text(), text().contains("✓"));
  }

  @Test
  public void imagesGoRound() throws Exception {
    fixture.push();
    open();
    assertShown("Image 1 of 10.");
    click(R.id.previous);
    assertShown("Image 10 of 10.");
    click(R.id.next);
    assertShown("Image 1 of 10.");
  }

  @Test
  public void thePairIsChosen() throws Exception {
    fixture.phone.offsets.put("dynamic.tflite", 99f);
    fixture.push();
    open().<Spinner>findViewById(R.id.pair).setSelection(1);
    fixture.await(() -> text().contains("dynamic\n"));
    classified();
    assertTrue(column(1), column(1).matches("(?s)dynamic\n.*ms\nzero.*\n100%\n.*"));
  }

  @Test
  public void aPhotoIsShownToBothModels() throws Exception {
    fixture.push();
    open();
    pick(png(Color.WHITE));
    assertShown("Your photo");
    assertTrue(column(0), column(0).contains("zero\n78.7%\none\n10.7%\ntwo\n10.7%\n")); // 1 / (1 + 2 / e^2)
    BitmapDrawable shown =
        (BitmapDrawable) controller.get().<ImageView>findViewById(R.id.picture).getDrawable();
    assertEquals(60, shown.getBitmap().getWidth());
    click(R.id.next);
    assertShown("Image 1 of 10.");
  }

  @Test
  public void aPhotoThatCannotBeReadIsNoCrash() throws Exception {
    fixture.push();
    open();
    pick("no image".getBytes());
    assertShown("This picture cannot be shown: it is damaged or no image. Pick another one.");
    assertNull(controller.get().<ImageView>findViewById(R.id.picture).getDrawable());
    assertEquals(0, controller.get().<ViewGroup>findViewById(R.id.predictions).getChildCount());
  }

  @Test
  public void theOtherModelClassifiesWhereOneIsRefused() throws Exception {
    fixture.push().write(AppFixture.KEY + "/int8.tflite", new byte[3]);
    open();
    assertTrue(column(0), column(0).contains(" ms\n"));
    String refusal = "int8\nCannot be run on this phone: int8.tflite holds 3 bytes";
    assertTrue(column(1), column(1).startsWith(refusal));
  }

  @Test
  public void withoutImagesAPhotoIsAskedFor() throws Exception {
    fixture.phone.described.put("images", new JSONArray());
    JSONArray models = fixture.phone.described.getJSONArray("models");
    for (int i = 0; i < models.length(); i++) {
      models.getJSONObject(i).put("reference", JSONObject.NULL);
    }
    fixture.push();
    open();
    assertShown("These models come without images. Pick a photo.");
    pick(png(Color.WHITE));
    assertTrue(column(1), column(1).contains("zero\n78.7%\n"));
  }

  @Test
  public void modelsThatAreGoneAreNoCrash() throws Exception {
    open("gone");
    assertShown("These models cannot be used: there is no bundle gone");
  }

  @Test
  public void modelsOfOtherTasksAreRefused() throws Exception {
    fixture.phone.segment();
    fixture.push();
    open();
    assertShown("These models do not classify images: their task is segmentation.");
    assertFalse(controller.get().findViewById(R.id.controls).isShown());
  }

  @Test
  public void clipsAreRefusedInWords() throws Exception {
    fixture.phone.film();
    fixture.push();
    open();
    assertShown("These models take clips of 2 frames: they say nothing of a single picture.");
    assertFalse(controller.get().findViewById(R.id.controls).isShown());
  }

  private BoxesView boxes(int column) {
    ViewGroup columns = controller.get().findViewById(R.id.predictions);
    return columns.getChildAt(column).findViewById(R.id.boxes);
  }

  @Test
  public void aDetectorShowsBoxesOnThePicture() throws Exception {
    fixture.phone.detect();
    fixture.push();
    open();
    assertEquals("Find objects in a picture", controller.get().getTitle());
    assertShown("Image 1 of 10");
    assertFalse(controller.get().findViewById(R.id.picture).isShown());
    for (int column = 0; column < 2; column++) {
      assertTrue(boxes(column).isShown());
      String told = boxes(column).getContentDescription().toString();
      assertTrue(told, told.matches("The picture with \\d box(es)?: .*two 95.3%.*"));
      assertTrue(column(column), column(column).contains("two\n95.3%\n"));
    }
    fits(controller.get(), "boxes");
    pick(png(Color.WHITE));
    assertShown("Your photo. Objects are found in its centre.");
    assertTrue(boxes(1).isShown());
  }

  @Test
  public void aPictureWithoutObjectsIsToldOf() throws Exception {
    fixture.phone.detect();
    fixture.phone.described.getJSONObject("detection").put("score_threshold", 1);
    fixture.push();
    open();
    assertShown("No box with a score of 100% or more");
    assertEquals("The picture, without boxes", boxes(0).getContentDescription());
  }

  /** The user is faster than the models: results of earlier images are not shown. */
  @Test
  public void onlyTheLatestResultIsShown() throws Exception {
    fixture.push();
    open();
    fixture.hold("int8.tflite");
    controller.get().findViewById(R.id.next).performClick();
    controller.get().findViewById(R.id.next).performClick();
    fixture.letGo();
    classified();
    assertShown("Image 3 of 10.");
    assertEquals(2, controller.get().<ViewGroup>findViewById(R.id.predictions).getChildCount());
  }

  @Test
  public void turningThePhoneKeepsThePicture() throws Exception {
    fixture.push();
    open();
    click(R.id.next);
    controller.get().<Spinner>findViewById(R.id.pair).setSelection(1);
    fixture.await(() -> text().contains("dynamic\n"));
    controller.recreate();
    fixture.await(() -> text().contains("dynamic\n"));
    classified();
    assertShown("Image 2 of 10.");
    pick(png(Color.WHITE));
    controller.recreate();
    classified();
    assertShown("Your photo");
  }
}
