package org.hsvit.benchmark.apk;

import java.io.IOException;
import java.io.InputStream;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.commons.GeneratorAdapter;
import org.objectweb.asm.commons.Method;

/**
 * TensorFlow Lite's classes and those of the app that use them, as they are but for native methods, which are
 * calls of an emulated library.
 */
public final class ArmClasses extends ClassLoader {
  private static final Method CALL = Method.getMethod("Object call(Class, String, String, Object[])");

  private final ArmJni jni;

  ArmClasses(ArmJni jni) {
    super(ArmClasses.class.getClassLoader());
    this.jni = jni;
  }

  /** What native methods are replaced by: calls the library of the class's loader. */
  public static Object call(Class<?> type, String method, String descriptor, Object[] arguments) {
    return ((ArmClasses) type.getClassLoader()).jni.call(type, method, descriptor, arguments);
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!name.startsWith("org.tensorflow.lite.") && !name.startsWith("org.hsvit.benchmark.device.")) {
      return super.loadClass(name, resolve);
    }
    Class<?> loaded = findLoadedClass(name);
    return loaded == null ? define(name) : loaded;
  }

  private Class<?> define(String name) throws ClassNotFoundException {
    try (InputStream stream = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
      if (stream == null) {
        throw new ClassNotFoundException(name);
      }
      ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
      new ClassReader(stream).accept(new Linker(name, writer), 0);
      byte[] content = writer.toByteArray();
      return defineClass(name, content, 0, content.length);
    } catch (IOException error) {
      throw new ClassNotFoundException(name, error);
    }
  }

  /** Gives native methods a body. Leaves finalizers out: their thread would meddle with the emulator. */
  private static final class Linker extends ClassVisitor {
    private final Type type;

    Linker(String name, ClassVisitor next) {
      super(Opcodes.ASM9, next);
      type = Type.getObjectType(name.replace('.', '/'));
    }

    @Override
    public MethodVisitor visitMethod(
        int access, String name, String descriptor, String signature, String[] exceptions) {
      if (name.equals("finalize")) {
        return null;
      }
      int linked = access & ~Opcodes.ACC_NATIVE;
      MethodVisitor method = super.visitMethod(linked, name, descriptor, signature, exceptions);
      if (linked == access) {
        return method;
      }
      GeneratorAdapter code = new GeneratorAdapter(method, linked, name, descriptor);
      code.visitCode();
      code.push(type);
      code.push(name);
      code.push(descriptor);
      code.loadArgArray();
      code.invokeStatic(Type.getType(ArmClasses.class), CALL);
      code.unbox(Type.getReturnType(descriptor));
      code.returnValue();
      code.endMethod();
      return null;
    }
  }
}
