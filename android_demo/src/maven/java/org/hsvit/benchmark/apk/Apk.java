package org.hsvit.benchmark.apk;

import java.awt.image.Raster;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import javax.imageio.ImageIO;
import org.hsvit.benchmark.bundle.BundleSource;
import org.hsvit.benchmark.measure.Picture;

/** The packed APK, and the bundle in its assets. */
final class Apk implements BundleSource, AutoCloseable {
  private final ZipFile zip;

  Apk(String path) throws IOException {
    zip = new ZipFile(new File(path));
  }

  InputStream entry(String name) throws IOException {
    ZipEntry entry = zip.getEntry(name);
    if (entry == null) {
      throw new IOException("the APK has no " + name);
    }
    return zip.getInputStream(entry);
  }

  @Override
  public InputStream open(String file) throws IOException {
    return entry("assets/bundle/" + file);
  }

  /** The pixels of a PNG as they are stored. */
  Picture picture(String file) throws IOException {
    try (InputStream stream = open(file)) {
      Raster raster = ImageIO.read(stream).getRaster();
      int[] samples = raster.getPixels(0, 0, raster.getWidth(), raster.getHeight(), (int[]) null);
      byte[] pixels = new byte[samples.length];
      for (int i = 0; i < samples.length; i++) {
        pixels[i] = (byte) samples[i];
      }
      return new Picture(raster.getHeight(), raster.getWidth(), raster.getNumBands(), pixels);
    }
  }

  @Override
  public void close() throws IOException {
    zip.close();
  }
}
