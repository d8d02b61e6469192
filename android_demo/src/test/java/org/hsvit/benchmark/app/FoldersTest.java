package org.hsvit.benchmark.app;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;

import android.content.Context;
import android.content.ContextWrapper;
import java.io.File;
import java.io.FileNotFoundException;
import java.nio.file.Files;
import java.util.List;
import org.hsvit.benchmark.measure.FakePhone;
import org.junit.Rule;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.RobolectricTestRunner;

/** Where the app's files lie on a phone where it cannot write into the folders that adb has made. */
@RunWith(RobolectricTestRunner.class)
public class FoldersTest {
  @Rule public final AppFixture fixture = new AppFixture();

  /** The app's context, where the shared folders belong to somebody else. */
  private final Context refused =
      new ContextWrapper(fixture.app) {
        @Override
        public File getExternalFilesDir(String name) {
          return new File(super.getExternalFilesDir(name).getPath()) {
            @Override
            public boolean canWrite() {
              return false;
            }
          };
        }
      };

  private final File own = new File(fixture.app.getFilesDir(), "bundles");

  @Test
  public void sharedFoldersAreUsedWhereTheyCanBeWrittenTo() {
    assertEquals(fixture.app.getExternalFilesDir("reports"), Folders.reports(fixture.app));
    assertEquals(List.of(fixture.app.getExternalFilesDir("bundles")), Folders.allBundles(fixture.app));
  }

  @Test
  public void otherwiseItsOwnAre() {
    assertEquals(new File(fixture.app.getFilesDir(), "reports"), Folders.reports(refused));
    assertEquals(List.of(fixture.app.getExternalFilesDir("bundles"), own), Folders.allBundles(refused));
  }

  @Test
  public void bundlesOfBothAreListedAndDeleted() throws Exception {
    fixture.push("pushed");
    Files.createDirectories(own.toPath());
    File added = new File(own, "added");
    Files.move(new File(Folders.bundles(fixture.app), "pushed").toPath(), added.toPath());
    fixture.push("pushed");
    assertEquals("added", Library.list(refused).get(0).key);
    assertEquals("pushed", Library.list(refused).get(1).key);
    assertEquals(FakePhone.ORIGINAL, Library.open(refused, "added").pairs().get(0).original.file);
    assertEquals("added 2", Library.unusedName(refused, "added"));
    assertEquals("pushed 2", Library.unusedName(refused, "pushed"));
    Library.remove(refused, "added");
    assertThrows(FileNotFoundException.class, () -> Library.open(refused, "added"));
  }
}
