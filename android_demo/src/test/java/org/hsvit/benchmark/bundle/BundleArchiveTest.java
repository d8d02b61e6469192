package org.hsvit.benchmark.bundle;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.hsvit.benchmark.measure.FakePhone;
import org.json.JSONArray;
import org.json.JSONObject;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;
import org.junit.runner.RunWith;
import org.robolectric.RobolectricTestRunner;

/** Bundles packed as zip archives, and archives that are none. */
@RunWith(RobolectricTestRunner.class)
public class BundleArchiveTest {
  @Rule public final TemporaryFolder room = new TemporaryFolder();

  private final Map<String, byte[]> files = new LinkedHashMap<>();
  private File folder;

  @Before
  public void fill() throws Exception {
    FakePhone phone = new FakePhone();
    phone.bundle();
    files.putAll(phone.files);
    folder = new File(room.getRoot(), "unpacked");
  }

  private byte[] zip(String top) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
      for (Map.Entry<String, byte[]> file : files.entrySet()) {
        zip.putNextEntry(new ZipEntry(top + file.getKey()));
        zip.write(file.getValue());
      }
    }
    return bytes.toByteArray();
  }

  private Bundle unpack(byte[] archive) throws Exception {
    return BundleArchive.unpack(new ByteArrayInputStream(archive), folder);
  }

  private String refusal(byte[] archive) {
    return assertThrows(BundleException.class, () -> unpack(archive)).getMessage();
  }

  /** What is said of the bundle with one more, or another, file. */
  private String refusal(String name, byte[] content) throws Exception {
    files.put(name, content);
    String said = refusal(zip(""));
    files.remove(name);
    assertFalse("nothing outside", new File(room.getRoot(), "outside").exists());
    return said;
  }

  @Test
  public void aBundleIsUnpacked() throws Exception {
    Bundle bundle = unpack(zip(""));
    assertEquals("sums", bundle.name());
    for (String name : files.keySet()) {
      assertArrayEquals(name, files.get(name), Files.readAllBytes(new File(folder, name).toPath()));
      assertArrayEquals(name, files.get(name), Contents.read(bundle.source(), name));
    }
  }

  @Test
  public void aFolderInTheArchiveAndWhatSystemsPutBesideAreLeftOut() throws Exception {
    files.put("images/.DS_Store", new byte[3]);
    byte[] archive = zip("my models/");
    files.remove("images/.DS_Store");
    assertEquals("sums", unpack(archive).name());
    assertFalse(new File(folder, "my models").exists());
    assertEquals(files.keySet().stream().filter(n -> !n.contains("/")).count() + images(), list());
  }

  private int images() {
    return files.keySet().stream().anyMatch(name -> name.contains("/")) ? 1 : 0;
  }

  private int list() {
    return folder.list().length;
  }

  @Test
  public void namesThatLeadElsewhereAreRefused() throws Exception {
    String[] names = {
      "../outside", "/outside", "images/../../outside", "a\\..\\outside", "./x", "a//b", ".hidden", "C:x",
      "a/b/c/d/e", "line\nbreak", "x".repeat(300)
    };
    for (String name : names) {
      String said = refusal(name, new byte[1]);
      assertTrue(name + ": " + said, said.contains("which no bundle has") || said.contains("is damaged"));
    }
  }

  @Test
  public void filesThatNobodyNeedsAndNamesThatClashAreRefused() throws Exception {
    assertEquals("the archive has a file that no bundle needs, more.txt", refusal("more.txt", new byte[1]));
    String model = FakePhone.ORIGINAL;
    String other = model.toUpperCase();
    assertEquals("the archive has two files of the name " + other, refusal(other, new byte[1]));
    byte[] old = files.put("a/b.txt", new byte[1]);
    assertTrue(refusal(zip("")).contains("no bundle needs, a/b.txt"));
  }

  @Test
  public void sizesAndHashesAreChecked() throws Exception {
    byte[] model = files.get(FakePhone.ORIGINAL).clone();
    model[model.length - 1] ^= 1;
    byte[] right = files.put(FakePhone.ORIGINAL, model);
    assertEquals(
        FakePhone.ORIGINAL + " has another SHA-256 than bundle.json says", refusal(zip("")));
    files.put(FakePhone.ORIGINAL, new byte[right.length + 1]);
    assertEquals(
        FakePhone.ORIGINAL + " holds " + (right.length + 1) + " bytes, bundle.json says " + right.length,
        refusal(zip("")));
    files.remove(FakePhone.ORIGINAL);
    assertEquals(FakePhone.ORIGINAL + " is not in the archive, bundle.json names it", refusal(zip("")));
  }

  @Test
  public void bombsAreRefusedBeforeTheyFillTheStorage() throws Exception {
    files.put("bomb", new byte[5_000_000]); // a few kilobytes in the archive
    byte[] archive = zip("");
    assertTrue(archive.length < 100_000);
    String said =
        assertThrows(
                BundleException.class,
                () -> BundleArchive.unpack(new ByteArrayInputStream(archive), folder, 1_000_000))
            .getMessage();
    assertEquals("the archive holds more than 1000000 bytes", said);
    assertTrue(new File(folder, "bomb").length() <= 1_000_000);
    files.clear();
    for (int i = 0; i <= BundleArchive.MOST_FILES; i++) {
      files.put(i + ".png", new byte[0]);
    }
    assertEquals("the archive has more than 4000 files", refusal(zip("")));
  }

  @Test
  public void whatIsNoBundleIsRefused() throws Exception {
    assertEquals("this is no zip archive, or an empty one", refusal(new byte[100]));
    byte[] archive = zip("");
    byte[] cut = java.util.Arrays.copyOf(archive, archive.length / 2);
    String said = refusal(cut);
    assertTrue(said, said.contains("damaged") || said.contains("no bundle.json") || said.contains("not in"));
    byte[] description = files.remove("bundle.json");
    assertEquals("the archive has no bundle.json", refusal(zip("")));
    files.put("bundle.json", "[".repeat(100_000).getBytes(StandardCharsets.UTF_8));
    assertTrue(refusal(zip("")).startsWith("bundle.json is not valid: "));
    JSONObject other = new JSONObject(new String(description, StandardCharsets.UTF_8));
    other.put("pairs", new JSONArray());
    files.put("bundle.json", other.toString().getBytes(StandardCharsets.UTF_8));
    assertTrue(refusal(zip("")).contains("pairs"));
  }
}
