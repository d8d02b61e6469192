package org.hsvit.benchmark.device;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertSame;

import java.io.File;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.util.List;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.FolderSource;
import org.hsvit.benchmark.measure.FakePhone;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** What files that Python wrote say of themselves, see {@code tests/android/metadata_files.py}. */
public class TfliteMetadataTest {
  @Rule public final TemporaryFolder folder = new TemporaryFolder();

  /** The metadata of a mapped file, as files in a folder are. */
  private static TfliteMetadata read(String name) throws Exception {
    File file = new File("../tests/android/data/metadata_" + name + ".tflite");
    try (FileChannel channel = new RandomAccessFile(file, "r").getChannel()) {
      return TfliteMetadata.read(channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size()));
    }
  }

  @Test
  public void rangeAndClassesAreRead() throws Exception {
    TfliteMetadata found = read("signed");
    assertEquals(-1, found.range.low, 0);
    assertEquals(1, found.range.high, 0);
    assertEquals(List.of("tabby", "größe, mit Komma", "zebra"), found.classNames);
    assertNull(found.ofColours);
  }

  @Test
  public void anyRangeIsRead() throws Exception {
    TfliteMetadata found = read("other");
    assertEquals(-0.5, found.range.low, 0);
    assertEquals(2, found.range.high, 0);
    assertEquals(List.of(), found.classNames);
  }

  @Test
  public void coloursThatDifferHaveNoOneRange() throws Exception {
    TfliteMetadata found = read("colours");
    assertNull(found.range);
    assertEquals("(x − 123.7) / 58.40, (x − 116.3) / 57.12, (x − 103.5) / 57.38", found.ofColours);
  }

  @Test
  public void filesThatSayNothingAreNoCrash() throws Exception {
    for (String name : List.of("none", "damaged")) {
      TfliteMetadata found = read(name);
      assertNull(name, found.range);
      assertEquals(name, List.of(), found.classNames);
    }
    for (int size : new int[] {0, 7, 8, 100}) {
      assertSame(TfliteMetadata.NONE, TfliteMetadata.read(ByteBuffer.allocate(size)));
    }
  }

  /** Every truncated file, as by a download that broke off. */
  @Test
  public void filesThatEndEarlyAreNoCrash() throws Exception {
    byte[] whole = Files.readAllBytes(new File("../tests/android/data/metadata_signed.tflite").toPath());
    for (int size = 0; size < whole.length; size += 13) {
      TfliteMetadata.read(ByteBuffer.wrap(whole, 0, size).slice());
    }
  }

  @Test
  public void classesGetTheirNamesWhereThereAreAsMany() throws Exception {
    FakePhone phone = new FakePhone();
    phone.bundle();
    for (String name : phone.files.keySet()) {
      File file = new File(folder.getRoot(), name);
      file.getParentFile().mkdirs();
      Files.write(file.toPath(), phone.files.get(name));
    }
    List<String> before = List.of("zero", "one", "two");
    assertEquals(before, AddedModels.nameClasses(folder.getRoot(), List.of("a", "b")).classNames());
    Bundle named = AddedModels.nameClasses(folder.getRoot(), List.of("a", "b", "c"));
    assertEquals(List.of("a", "b", "c"), named.classNames());
    assertEquals(List.of("a", "b", "c"), Bundle.read(new FolderSource(folder.getRoot())).classNames());
  }
}
