package org.hsvit.benchmark.device;

import android.content.res.AssetFileDescriptor;
import android.content.res.AssetManager;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import org.hsvit.benchmark.bundle.BundleSource;

/** A bundle in the assets of the APK. */
public final class AssetSource implements BundleSource {
  private final AssetManager assets;
  private final String folder;

  /**
   * @param folder its folder in the assets, such as {@code bundle}
   */
  public AssetSource(AssetManager assets, String folder) {
    this.assets = assets;
    this.folder = folder;
  }

  @Override
  public InputStream open(String file) throws IOException {
    return assets.open(folder + "/" + file);
  }

  /** From the APK itself, where models lie uncompressed. */
  @Override
  public ByteBuffer map(String file) throws IOException {
    try (AssetFileDescriptor asset = assets.openFd(folder + "/" + file);
        FileInputStream apk = new FileInputStream(asset.getFileDescriptor())) {
      return apk.getChannel()
          .map(FileChannel.MapMode.READ_ONLY, asset.getStartOffset(), asset.getLength())
          .order(ByteOrder.nativeOrder());
    }
  }
}
