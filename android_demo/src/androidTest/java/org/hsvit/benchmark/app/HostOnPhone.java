package org.hsvit.benchmark.app;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;
import static org.junit.Assume.assumeTrue;

import android.os.Build;
import android.os.Process;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.After;
import org.junit.Test;

/** What {@code export.phone} needs of the phone: the ways that files take between it and adb's shell. */
public final class HostOnPhone {
  private static final String PROVIDER = "content://org.hsvit.benchmark.host/";
  private static final String KEY = "of HostOnPhone";

  private final RealPhone phone = new RealPhone();
  private final File report = new File(Folders.reports(phone.app), "of-HostOnPhone.json");

  @After
  public void clean() {
    report.delete();
    Library.remove(phone.app, KEY);
  }

  private String content(String verb, String name) {
    int user = Process.myUid() / 100_000;
    return "content " + verb + " --user " + user + " --uri " + PROVIDER + name;
  }

  private void writeReport() throws Exception {
    Files.createDirectories(report.getParentFile().toPath());
    Files.write(report.toPath(), "{\"é\": 1}".getBytes(StandardCharsets.UTF_8));
  }

  @Test
  public void theShellReadsReportsThroughTheProvider() throws Exception {
    writeReport();
    assertTrue(phone.shell(content("read", "reports")).contains(report.getName() + "\n"));
    assertEquals("{\"é\": 1}", phone.shell(content("read", "reports/" + report.getName())));
  }

  @Test
  public void theShellReadsReportsOfTheOwnerFromTheStorage() throws Exception {
    writeReport();
    boolean shared = report.getPath().startsWith("/storage/emulated/0/");
    assumeTrue("another user, or folders of the app's own: then the provider is used", shared);
    assertEquals("{\"é\": 1}", phone.shell("cat " + report));
  }

  @Test
  public void theShellSendsABundleThroughTheProvider() throws Exception {
    assumeTrue("a command's input needs Android 12", Build.VERSION.SDK_INT >= Build.VERSION_CODES.S);
    String name = "received/" + KEY.replace(" ", "%20");
    phone.shell(content("write", name), ownBundle());
    String answer = phone.shell(content("read", name));
    assertEquals("{\"bundle\":\"" + KEY + "\"}", answer);
    assertFalse(Library.open(phone.app, KEY).pairs().isEmpty());
  }

  /** The bundle in the APK, as an archive. */
  private byte[] ownBundle() throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
      add(zip, "bundle", "");
    }
    return bytes.toByteArray();
  }

  private void add(ZipOutputStream zip, String path, String name) throws Exception {
    String[] inner = phone.app.getAssets().list(path);
    for (String each : inner) {
      add(zip, path + "/" + each, name.isEmpty() ? each : name + "/" + each);
    }
    if (inner.length == 0) {
      zip.putNextEntry(new ZipEntry(name));
      try (InputStream from = phone.app.getAssets().open(path)) {
        byte[] buffer = new byte[1 << 16];
        for (int count = from.read(buffer); count >= 0; count = from.read(buffer)) {
          zip.write(buffer, 0, count);
        }
      }
    }
  }
}
