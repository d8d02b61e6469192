package org.hsvit.benchmark.app;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import android.content.ContentValues;
import android.content.pm.PackageManager;
import android.content.pm.ProviderInfo;
import android.net.Uri;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import org.json.JSONObject;
import org.junit.Rule;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.Robolectric;
import org.robolectric.RobolectricTestRunner;

/** How adb's shell reaches files of the app. */
@RunWith(RobolectricTestRunner.class)
public class HostProviderTest {
  private static final String AUTHORITY = "org.hsvit.benchmark.host";

  @Rule public final AppFixture fixture = new AppFixture();
  private final HostProvider provider = Robolectric.setupContentProvider(HostProvider.class, AUTHORITY);

  private static Uri uri(String path) {
    return Uri.parse("content://" + AUTHORITY + "/" + path);
  }

  private String read(String path) throws Exception {
    try (InputStream stream =
        new FileInputStream(provider.openFile(uri(path), "r").getFileDescriptor())) {
      return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private void write(String path, byte[] content) throws Exception {
    try (OutputStream stream =
        new FileOutputStream(provider.openFile(uri(path), "w").getFileDescriptor())) {
      stream.write(content);
    }
  }

  private void report(String name, long time) throws Exception {
    File file = new File(Folders.reports(fixture.app), name);
    Files.createDirectories(file.getParentFile().toPath());
    Files.writeString(file.toPath(), "{\"of\": \"" + name + "\"}");
    file.setLastModified(time);
  }

  @Test
  public void onlyAdbsShellMayUseIt() throws Exception {
    PackageManager packages = fixture.app.getPackageManager();
    ProviderInfo info = packages.resolveContentProvider(AUTHORITY, 0);
    assertTrue(info.exported);
    assertEquals("android.permission.DUMP", info.readPermission);
    assertEquals("android.permission.DUMP", info.writePermission);
    assertFalse(info.grantUriPermissions);
  }

  @Test
  public void reportsAndRunsAreRead() throws Exception {
    report("old.json", 1_000_000);
    report("new (é).json", 2_000_000);
    assertEquals("new (é).json\nold.json\n", read("reports"));
    assertEquals("{\"of\": \"new (é).json\"}", read("reports/" + Uri.encode("new (é).json")));
    File run = new File(Folders.runs(fixture.app), "a.json");
    Files.createDirectories(run.getParentFile().toPath());
    Files.writeString(run.toPath(), "{}");
    assertEquals("{}", read("runs/a.json"));
  }

  @Test
  public void aBundleIsTakenAsAnArchive() throws Exception {
    write("received/" + Uri.encode("my models (2)"), fixture.archive(null));
    assertEquals("{\"bundle\":\"my models (2)\"}", read("received/" + Uri.encode("my models (2)")));
    assertEquals("sums", Library.open(fixture.app, "my models (2)").name());
    assertThrows("it is taken once", FileNotFoundException.class, () -> read("received/my%20models%20(2)"));
  }

  @Test
  public void itReplacesTheOneOfItsName() throws Exception {
    fixture.write("models/old.tflite", new byte[9]);
    write("received/models", fixture.archive(null));
    assertEquals("{\"bundle\":\"models\"}", read("received/models"));
    assertFalse(new File(Folders.bundles(fixture.app), "models/old.tflite").exists());
  }

  @Test
  public void whatIsNoBundleIsRefusedAndTheOldOneStays() throws Exception {
    fixture.push("models");
    write("received/models", fixture.archive("more.txt"));
    assertEquals(
        "the archive has a file that no bundle needs, more.txt",
        new JSONObject(read("received/models")).getString("problem"));
    assertEquals("sums", Library.open(fixture.app, "models").name());
    assertEquals(1, Folders.bundles(fixture.app).list().length);
  }

  @Test
  public void nothingElseIsServed() throws Exception {
    report("a.json", 1_000_000);
    File secret = new File(Folders.reports(fixture.app).getParentFile(), "secret.json");
    Files.writeString(secret.toPath(), "secret");
    String[] paths = {
      "", "bundles", "secret.json", "reports/..%2Fsecret.json", "reports/../secret.json", "runs/..", "files/x",
      "reports/none.json", "reports/.a.json", "received", "received/..%2Fx", "received/a%00b", "received/none"
    };
    for (String path : paths) {
      assertThrows(path, FileNotFoundException.class, () -> provider.openFile(uri(path), "r"));
    }
    for (String path : new String[] {"reports/a.json", "runs/a.json"}) {
      assertThrows(path, SecurityException.class, () -> provider.openFile(uri(path), "w"));
    }
    assertThrows(FileNotFoundException.class, () -> provider.openFile(uri("received/..%2Fx"), "w"));
    Uri all = uri("reports");
    assertThrows(
        UnsupportedOperationException.class, () -> provider.query(all, null, null, null, null));
    assertThrows(UnsupportedOperationException.class, () -> provider.delete(all, null, null));
    assertThrows(UnsupportedOperationException.class, () -> provider.insert(all, new ContentValues()));
    assertThrows(
        UnsupportedOperationException.class, () -> provider.update(all, new ContentValues(), null, null));
  }
}
