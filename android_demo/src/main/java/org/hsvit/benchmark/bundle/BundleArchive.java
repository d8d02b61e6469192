package org.hsvit.benchmark.bundle;

import java.io.EOFException;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipInputStream;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/**
 * A bundle that was packed as a zip archive.
 *
 * <p>Archives come from anywhere. Names that lead out of the folder, files that the bundle does not name, more
 * bytes than a bundle may have, and files of another size or SHA-256 than it says are refused.
 */
public final class BundleArchive {
  /** What export.bundle allows: 1 GB of models and 1,000 images, and what lies beside them. */
  static final long MOST_BYTES = 1L << 30;

  static final int MOST_FILES = 4000;

  private static final String DESCRIPTION = "bundle.json";
  private static final int MOST_DESCRIPTION = 256 << 20;
  private static final int LONGEST_NAME = 200;
  private static final int DEEPEST = 4;

  private final File folder;
  private final long mostBytes;

  /** The files by their names in lower case, as storages may not tell cases apart. */
  private final Map<String, String> files = new HashMap<>();

  private final Map<String, String> hashes = new HashMap<>();

  private long bytes;

  private BundleArchive(File folder, long mostBytes) {
    this.folder = folder;
    this.mostBytes = mostBytes;
  }

  /**
   * Unpacks a bundle and checks it.
   *
   * @param archive may hold the bundle's files, or one folder with them
   * @param folder where they go; what is there after an exception is of no use
   * @throws BundleException the archive is damaged, or no bundle, or not what its bundle.json says
   * @throws IOException the archive cannot be read, or the files cannot be written
   */
  public static Bundle unpack(InputStream archive, File folder) throws IOException {
    return unpack(archive, folder, MOST_BYTES);
  }

  static Bundle unpack(InputStream archive, File folder, long mostBytes) throws IOException {
    BundleArchive unpacking = new BundleArchive(folder, mostBytes);
    unpacking.write(archive);
    unpacking.check();
    return Bundle.read(new FolderSource(folder));
  }

  private void write(InputStream archive) throws IOException {
    try {
      ZipInputStream zip = new ZipInputStream(archive, StandardCharsets.UTF_8);
      for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        if (!entry.isDirectory() && !isOfTheSystem(entry.getName())) {
          write(checkedName(entry.getName()), zip);
        }
      }
    } catch (ZipException | EOFException | IllegalArgumentException error) { // the last: names of no UTF-8
      throw new BundleException("the archive is damaged: " + error.getMessage(), error);
    }
    if (files.isEmpty()) {
      throw new BundleException("this is no zip archive, or an empty one");
    }
  }

  /** What macOS and Windows put beside the files. */
  private static boolean isOfTheSystem(String name) {
    String last = name.substring(name.lastIndexOf('/') + 1);
    return name.startsWith("__MACOSX/") || last.equals(".DS_Store") || last.equals("Thumbs.db");
  }

  private String checkedName(String name) throws BundleException {
    String[] parts = name.split("/", -1);
    boolean plain = parts.length <= DEEPEST && name.length() <= LONGEST_NAME;
    for (String part : parts) {
      plain &= !part.isEmpty() && !part.startsWith(".") && !part.matches(".*[\\\\:*?\"<>|\\p{Cntrl}].*");
    }
    if (!plain) {
      throw new BundleException("the archive has a file of the name " + name + ", which no bundle has");
    }
    if (files.put(name.toLowerCase(Locale.ROOT), name) != null) {
      throw new BundleException("the archive has two files of the name " + name);
    }
    if (files.size() > MOST_FILES) {
      throw new BundleException("the archive has more than " + MOST_FILES + " files");
    }
    return name;
  }

  private void write(String name, InputStream content) throws IOException {
    File file = new File(folder, name);
    file.getParentFile().mkdirs();
    byte[] buffer = new byte[1 << 16];
    MessageDigest digest = sha256();
    try (OutputStream to = new DigestOutputStream(new FileOutputStream(file), digest)) {
      for (int count = content.read(buffer); count >= 0; count = content.read(buffer)) {
        bytes += count;
        if (bytes > mostBytes) {
          throw new BundleException("the archive holds more than " + mostBytes + " bytes");
        }
        to.write(buffer, 0, count);
      }
    }
    hashes.put(name, String.format("%064x", new BigInteger(1, digest.digest())));
  }

  private void check() throws IOException {
    liftOut();
    if (!files.containsKey(DESCRIPTION)) {
      throw new BundleException("the archive has no " + DESCRIPTION);
    }
    Set<String> left = new HashSet<>(files.values());
    left.remove(DESCRIPTION);
    try {
      check(new JSONObject(description()), left);
    } catch (JSONException | StackOverflowError error) {
      throw new BundleException(DESCRIPTION + " is not valid: " + error.getMessage(), error);
    }
    if (!left.isEmpty()) {
      throw new BundleException("the archive has a file that no bundle needs, " + left.iterator().next());
    }
  }

  /** Where all files lie in one folder, moves them out of it. */
  private void liftOut() throws IOException {
    String first = files.values().iterator().next();
    String top = first.substring(0, first.indexOf('/') + 1);
    if (top.isEmpty() || !files.containsKey(top.toLowerCase(Locale.ROOT) + DESCRIPTION)) {
      return;
    }
    List<String> all = List.copyOf(files.values());
    files.clear();
    for (String name : all) {
      String shorter = name.substring(Math.min(top.length(), name.length()));
      File to = new File(folder, shorter);
      to.getParentFile().mkdirs();
      if (!name.startsWith(top) || !new File(folder, name).renameTo(to)) {
        throw new BundleException("the archive has files beside the folder " + top);
      }
      files.put(shorter.toLowerCase(Locale.ROOT), shorter);
      hashes.put(shorter, hashes.remove(name));
    }
    deleteEmptyFolders(new File(folder, top));
  }

  private static void deleteEmptyFolders(File folder) {
    File[] inner = folder.listFiles();
    for (File each : inner == null ? new File[0] : inner) {
      deleteEmptyFolders(each);
    }
    folder.delete(); // of a file's folder this does nothing
  }

  private String description() throws IOException {
    File file = new File(folder, DESCRIPTION);
    if (file.length() > MOST_DESCRIPTION) {
      throw new BundleException(DESCRIPTION + " has " + file.length() + " bytes");
    }
    return new String(Contents.read(new FolderSource(folder), DESCRIPTION), StandardCharsets.UTF_8);
  }

  /** Checks every file that the description names, and removes it from those that are left. */
  private void check(Object json, Set<String> left) throws IOException, JSONException {
    if (json instanceof JSONArray) {
      for (int i = 0; i < ((JSONArray) json).length(); i++) {
        check(((JSONArray) json).get(i), left);
      }
    } else if (json instanceof JSONObject) {
      JSONObject object = (JSONObject) json;
      if (object.opt("file") instanceof String) {
        checkFile(object, left);
      }
      for (Iterator<String> names = object.keys(); names.hasNext(); ) {
        check(object.get(names.next()), left);
      }
    }
  }

  private void checkFile(JSONObject described, Set<String> left) throws IOException, JSONException {
    String name = described.getString("file");
    if (!files.containsValue(name)) {
      throw new BundleException(name + " is not in the archive, bundle.json names it");
    }
    left.remove(name);
    File file = new File(folder, name);
    if (described.has("bytes") && described.getLong("bytes") != file.length()) {
      throw new BundleException(
          name + " holds " + file.length() + " bytes, bundle.json says " + described.get("bytes"));
    }
    if (described.has("sha256") && !described.getString("sha256").equals(hashes.get(name))) {
      throw new BundleException(name + " has another SHA-256 than bundle.json says");
    }
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException error) {
      throw new AssertionError("every Java has SHA-256", error);
    }
  }
}
