package org.hsvit.benchmark.measure;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.OutputStream;
import java.io.Serializable;
import java.nio.file.Files;
import org.hsvit.benchmark.bundle.Bundle;
import org.hsvit.benchmark.bundle.ModelFile;
import org.hsvit.benchmark.bundle.Pair;

/** Hands an object from one process of the app to another, in a file: binders carry no megabytes. */
public final class StoredObject {
  /** Stands for a pair or a model, both of which the reader has in its bundle. */
  private static final class Named implements Serializable {
    private static final long serialVersionUID = 1;
    private final String name;
    private final boolean isPair;

    Named(String name, boolean isPair) {
      this.name = name;
      this.isPair = isPair;
    }
  }

  private StoredObject() {}

  public static void write(Serializable object, File file) throws IOException {
    try (OutputStream stream = Files.newOutputStream(file.toPath());
        ObjectOutputStream objects = new Writer(stream)) {
      objects.writeObject(object);
    }
  }

  /**
   * Reads an object that this version of the app has written.
   *
   * @param bundle the one that it is about; null if it has no pairs and models
   * @throws IOException the file cannot be read, or is not whole
   */
  public static Object read(File file, Bundle bundle) throws IOException {
    try (InputStream stream = Files.newInputStream(file.toPath());
        ObjectInputStream objects = new Reader(stream, bundle)) {
      return objects.readObject();
    } catch (ClassNotFoundException error) {
      throw new IOException(error);
    }
  }

  private static final class Writer extends ObjectOutputStream {
    Writer(OutputStream stream) throws IOException {
      super(stream);
      enableReplaceObject(true);
    }

    @Override
    protected Object replaceObject(Object object) {
      if (object instanceof ModelFile) {
        return new Named(((ModelFile) object).file, false);
      }
      return object instanceof Pair ? new Named(((Pair) object).name, true) : object;
    }
  }

  private static final class Reader extends ObjectInputStream {
    private final Bundle bundle;

    Reader(InputStream stream, Bundle bundle) throws IOException {
      super(stream);
      this.bundle = bundle;
      enableResolveObject(true);
    }

    @Override
    protected Object resolveObject(Object object) throws IOException {
      if (!(object instanceof Named)) {
        return object;
      }
      Named named = (Named) object;
      return named.isPair ? bundle.pair(named.name) : bundle.model(named.name);
    }
  }
}
