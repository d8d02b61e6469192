package org.hsvit.benchmark.device;

import android.content.res.AssetManager;
import java.io.IOException;
import java.io.InputStream;
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
}
