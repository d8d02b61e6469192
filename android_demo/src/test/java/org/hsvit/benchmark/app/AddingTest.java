package org.hsvit.benchmark.app;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;
import static org.robolectric.Shadows.shadowOf;

import android.app.Activity;
import android.content.ClipData;
import android.content.Intent;
import android.net.Uri;
import android.system.ErrnoException;
import android.system.OsConstants;
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
import org.hsvit.benchmark.bundle.BundleException;
import org.hsvit.benchmark.measure.ModelException;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.Robolectric;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.android.controller.ActivityController;
import org.robolectric.shadows.ShadowActivity;

/** Files that the user picks. */
@RunWith(RobolectricTestRunner.class)
public class AddingTest {
  private final AppFixture fixture = new AppFixture();
  private final List<String> described = new ArrayList<>();

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
            (folder, names) -> {
              described.addAll(names);
              return null;
            })
        .add(Arrays.asList(files));
  }

  private String refusal(Phone.Describer describer, Uri... files) {
    Adding adding = new Adding(fixture.app, describer);
    String message =
        assertThrows(Adding.Refusal.class, () -> adding.add(Arrays.asList(files))).getMessage();
    assertEquals("nothing stays", 0, Folders.bundles(fixture.app).list().length);
    return message;
  }

  @Test
  public void filesBecomeABundleTheLargestItsOriginal() throws Exception {
    byte[] original = model(200_000);
    String said = add(file("net int8.tflite", model(100)), file("net.tflite", original));
    assertEquals("2 models were added. The largest, net.tflite, is taken for the original.", said);
    assertEquals(List.of("net.tflite", "net int8.tflite"), described);
    File folder = new File(Folders.bundles(fixture.app), "net int8");
    assertArrayEquals(original, Files.readAllBytes(new File(folder, "net.tflite").toPath()));
    assertEquals(2, folder.list().length);
  }

  @Test
  public void anAddedFileDoesNotReplaceAnother() throws Exception {
    String said = add(file("net.tflite", model(100)));
    assertTrue(said, said.startsWith("net.tflite was added. Alone"));
    add(file("net.tflite", model(100)), Uri.parse("content://files/net.tflite"));
    String[] names = Folders.bundles(fixture.app).list();
    Arrays.sort(names);
    assertArrayEquals(new String[] {"net", "net 2"}, names);
    assertTrue(new File(Folders.bundles(fixture.app), "net 2/2 net.tflite").isFile());
  }

  @Test
  public void namesCannotLeadElsewhere() throws Exception {
    add(file("../../x:y.tflite", model(100)));
    assertArrayEquals(new String[] {"_.._x_y"}, Folders.bundles(fixture.app).list());
  }

  @Test
  public void whatIsNoModelIsRefused() {
    Phone.Describer never =
        (folder, names) -> {
          throw new AssertionError("the runtime must not see it");
        };
    String message = "photo.jpg was not added: it is no .tflite file.";
    assertEquals(message, refusal(never, file("n.tflite", model(9)), file("photo.jpg", new byte[100])));
    assertEquals(
        "empty.tflite was not added: it is no .tflite file.",
        refusal(never, file("empty.tflite", new byte[0])));
  }

  @Test
  public void whatTheRuntimeRefusesIsNamed() {
    Phone.Describer refusing =
        (folder, names) -> {
          throw new ModelException("net.tflite", "net.tflite does not load: op 42");
        };
    assertEquals(
        "Nothing was added, for this phone’s runtime refuses net.tflite.\nnet.tflite does not load: op 42",
        refusal(refusing, file("net.tflite", model(100))));
    Phone.Describer unfit =
        (folder, names) -> {
          throw new BundleException("another size");
        };
    assertTrue(refusal(unfit, file("net.tflite", model(100))).endsWith("compared.\nanother size"));
  }

  @Test
  public void aFullDiskIsSaidToBeSo() {
    Phone.Describer full =
        (folder, names) -> {
          throw new IOException("write failed", new ErrnoException("write", OsConstants.ENOSPC));
        };
    String message = "This phone has no room left for these files. Free some, and try again.";
    assertEquals(message, refusal(full, file("net.tflite", model(100))));
    Phone.Describer fullToo =
        (folder, names) -> {
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
    assertEquals("net.tflite cannot be read.\nthe cloud is away", refusal((folder, names) -> null, uri));
  }

  @Test
  public void pickedFilesAreAddedAndSeen() throws Exception {
    ActivityController<MainActivity> controller = Robolectric.buildActivity(MainActivity.class).setup();
    MainActivity activity = controller.get();
    activity.findViewById(R.id.add).performClick();
    ShadowActivity.IntentForResult asked = shadowOf(activity).getNextStartedActivityForResult();
    assertEquals(Intent.ACTION_OPEN_DOCUMENT, asked.intent.getAction());
    assertTrue(asked.intent.getBooleanExtra(Intent.EXTRA_ALLOW_MULTIPLE, false));
    ClipData clip = ClipData.newRawUri("", file("a.tflite", model(100)));
    clip.addItem(new ClipData.Item(file("b.tflite", model(200))));
    Intent picked = new Intent();
    picked.setClipData(clip);
    shadowOf(activity).receiveResult(asked.intent, Activity.RESULT_OK, picked);
    assertTrue(Screen.text(activity).contains("Adding models…"));
    assertFalse(activity.findViewById(R.id.add).isEnabled());
    fixture.await(() -> !fixture.app.additions().isBusy());
    assertTrue(Screen.text(activity).contains("2 models were added. The largest, b.tflite"));
    assertTrue(activity.findViewById(R.id.add).isEnabled());
    assertTrue(new File(Folders.bundles(fixture.app), "a/b.tflite").isFile());
    controller.recreate();
    assertTrue(Screen.text(controller.get()).contains("2 models were added."));
  }
}
