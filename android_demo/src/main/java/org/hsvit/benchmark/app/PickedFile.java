package org.hsvit.benchmark.app;

import android.content.Context;
import android.net.Uri;
import android.os.ParcelFileDescriptor;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;

/** A file that the user picked, mapped: where it lies or, if its provider streams it, from a copy. */
final class PickedFile implements AutoCloseable {
  final ByteBuffer content;
  private final File copy;

  private PickedFile(ByteBuffer content, File copy) {
    this.content = content;
    this.copy = copy;
  }

  /**
   * Maps a file.
   *
   * @throws IOException it cannot be read, or there is no room for a copy
   */
  static PickedFile open(Context context, Uri uri) throws IOException {
    try (ParcelFileDescriptor descriptor = context.getContentResolver().openFileDescriptor(uri, "r")) {
      return new PickedFile(map(new FileInputStream(descriptor.getFileDescriptor())), null);
    } catch (IOException | RuntimeException error) {
      return copied(context, uri); // a pipe has no size and is not mapped
    }
  }

  private static PickedFile copied(Context context, Uri uri) throws IOException {
    File copy = File.createTempFile("picked", null, context.getCacheDir());
    try (InputStream from = context.getContentResolver().openInputStream(uri)) {
      if (from == null) {
        throw new FileNotFoundException("its provider has no content for it");
      }
      Files.copy(from, copy.toPath(), StandardCopyOption.REPLACE_EXISTING);
      return new PickedFile(map(new FileInputStream(copy)), copy);
    } catch (IOException | RuntimeException error) {
      copy.delete();
      throw error;
    }
  }

  private static ByteBuffer map(FileInputStream stream) throws IOException {
    try (FileChannel channel = stream.getChannel()) {
      return channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size());
    }
  }

  @Override
  public void close() {
    if (copy != null) {
      copy.delete();
    }
  }
}
