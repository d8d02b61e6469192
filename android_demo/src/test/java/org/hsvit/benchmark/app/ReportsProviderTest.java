package org.hsvit.benchmark.app;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import android.content.ContentValues;
import android.content.Context;
import android.database.Cursor;
import android.net.Uri;
import android.provider.OpenableColumns;
import java.io.File;
import java.io.FileNotFoundException;
import java.nio.file.Files;
import org.junit.Before;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.Robolectric;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.RuntimeEnvironment;

/** Which of the app's files others may read. */
@RunWith(RobolectricTestRunner.class)
public class ReportsProviderTest {
  private final Context app = RuntimeEnvironment.getApplication();
  private final ReportsProvider provider =
      Robolectric.setupContentProvider(ReportsProvider.class, "org.hsvit.benchmark.reports");
  private File report;

  @Before
  public void writeReport() throws Exception {
    report = new File(Folders.reports(app), "run 1.json");
    Files.createDirectories(report.getParentFile().toPath());
    Files.write(report.toPath(), new byte[123]);
  }

  private static Uri uri(String path) {
    return Uri.parse("content://org.hsvit.benchmark.reports/" + path);
  }

  @Test
  public void aReportHasNameSizeAndType() throws Exception {
    Uri uri = ReportsProvider.uri(report);
    assertEquals(uri("run%201.json"), uri);
    assertEquals("application/json", provider.getType(uri));
    try (Cursor cursor = provider.query(uri, null, null, null, null)) {
      assertTrue(cursor.moveToFirst());
      assertEquals("run 1.json", cursor.getString(cursor.getColumnIndex(OpenableColumns.DISPLAY_NAME)));
      assertEquals(123, cursor.getLong(cursor.getColumnIndex(OpenableColumns.SIZE)));
    }
    assertEquals(123, provider.openFile(uri, "r").getStatSize());
  }

  @Test
  public void aColumnThatItDoesNotHaveIsEmpty() {
    String[] columns = {"_data", OpenableColumns.SIZE};
    try (Cursor cursor = provider.query(ReportsProvider.uri(report), columns, null, null, null)) {
      assertTrue(cursor.moveToFirst());
      assertTrue(cursor.isNull(0));
      assertEquals(123, cursor.getLong(1));
    }
  }

  @Test
  public void nothingElseIsServed() throws Exception {
    File secret = new File(report.getParentFile().getParentFile(), "secret.json");
    File below = new File(report.getParentFile(), "below/a.json");
    Files.createDirectories(below.getParentFile().toPath());
    Files.write(secret.toPath(), new byte[1]);
    Files.write(below.toPath(), new byte[1]);
    Files.write(new File(report.getParentFile(), "a.txt").toPath(), new byte[1]);
    Files.createSymbolicLink(new File(report.getParentFile(), "link.json").toPath(), secret.toPath());
    String[] paths = {
      "", "..", "../secret.json", "..%2Fsecret.json", "below%2F..%2F..%2Fsecret.json", "below/a.json",
      "link.json", "a.txt", "none.json", "run%201.json%00.txt"
    };
    for (String path : paths) {
      assertThrows(path, FileNotFoundException.class, () -> provider.openFile(uri(path), "r"));
      try (Cursor cursor = provider.query(uri(path), null, null, null, null)) {
        assertEquals(path, 0, cursor.getCount());
      }
    }
  }

  @Test
  public void nothingIsWritten() {
    Uri uri = ReportsProvider.uri(report);
    for (String mode : new String[] {"w", "rw", "rwt", "wa"}) {
      assertThrows(mode, SecurityException.class, () -> provider.openFile(uri, mode));
    }
    assertThrows(UnsupportedOperationException.class, () -> provider.delete(uri, null, null));
    assertThrows(UnsupportedOperationException.class, () -> provider.insert(uri, new ContentValues()));
    assertThrows(
        UnsupportedOperationException.class, () -> provider.update(uri, new ContentValues(), null, null));
    assertEquals(123, report.length());
  }
}
