package org.hsvit.benchmark.bundle;

import java.io.File;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;

/** A bundle in a folder: pushed by adb, or added by the user. */
public final class FolderSource implements BundleSource {
  private final File folder;

  public FolderSource(File folder) {
    this.folder = folder;
  }

  @Override
  public InputStream open(String file) throws IOException {
    return stream(file);
  }

  @Override
  public ByteBuffer map(String file) throws IOException {
    try (FileInputStream stream = stream(file)) {
      FileChannel channel = stream.getChannel();
      return channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size()).order(ByteOrder.nativeOrder());
    }
  }

  private FileInputStream stream(String file) throws IOException {
    File found = new File(folder, file);
    if (!found.isFile()) {
      throw new FileNotFoundException("there is no such file");
    }
    return new FileInputStream(found);
  }
}
