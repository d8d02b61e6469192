package org.hsvit.benchmark.bundle;

import java.io.File;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;

/** A bundle in a folder: pushed by adb, or added by the user. */
public final class FolderSource implements BundleSource {
  private final File folder;

  public FolderSource(File folder) {
    this.folder = folder;
  }

  @Override
  public InputStream open(String file) throws IOException {
    File found = new File(folder, file);
    if (!found.isFile()) {
      throw new FileNotFoundException("there is no such file");
    }
    return new FileInputStream(found);
  }
}
