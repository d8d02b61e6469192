package org.hsvit.benchmark.bundle;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** The bytes of a bundle's files, and whether they are what the bundle says. */
public final class Contents {
  private Contents() {}

  /** All bytes of a file. */
  public static byte[] read(BundleSource source, String file) throws IOException {
    try (InputStream stream = source.open(file)) {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream(Math.max(32, stream.available()));
      byte[] buffer = new byte[1 << 16];
      for (int count = stream.read(buffer); count >= 0; count = stream.read(buffer)) {
        bytes.write(buffer, 0, count);
      }
      return bytes.toByteArray();
    }
  }

  /** The SHA-256 of bytes, 64 hexadecimal digits. */
  public static String sha256(byte[] bytes) {
    return sha256(ByteBuffer.wrap(bytes));
  }

  /** The SHA-256 of a buffer, such as a mapped file; its position stays unchanged. */
  public static String sha256(ByteBuffer bytes) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(bytes.duplicate());
      StringBuilder digits = new StringBuilder();
      for (byte part : digest.digest()) {
        digits.append(Character.forDigit(part >> 4 & 15, 16)).append(Character.forDigit(part & 15, 16));
      }
      return digits.toString();
    } catch (NoSuchAlgorithmException error) {
      throw new AssertionError("every Java has SHA-256", error);
    }
  }

  /**
   * Checks that a model's file is the one that its bundle is about.
   *
   * @throws BundleException its size or SHA-256 is another
   * @throws IOException it cannot be read
   */
  public static void check(ModelFile model, BundleSource source) throws IOException {
    check(model.file, source.map(model.file), model.bytes, model.sha256);
  }

  static void check(String file, ByteBuffer bytes, long size, String sha256) throws BundleException {
    if (bytes.capacity() != size) {
      throw new BundleException(
          file + " holds " + bytes.capacity() + " bytes, bundle.json says " + size);
    }
    String found = sha256(bytes);
    if (!found.equals(sha256)) {
      throw new BundleException(file + " has SHA-256 " + found + ", bundle.json says " + sha256);
    }
  }
}
