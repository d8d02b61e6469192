package org.hsvit.benchmark.apk;

import com.github.unidbg.Emulator;
import com.github.unidbg.arm.context.RegisterContext;
import com.github.unidbg.memory.MemoryBlock;
import com.github.unidbg.pointer.UnidbgPointer;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * Java's native interface for an emulated library: calls its native methods, and offers what those of
 * TensorFlow Lite call back. The library's memory is no memory of this process, so direct buffers are copied.
 */
final class ArmJni {
  private static final int FUNCTIONS = 233; // of JNIEnv, by the numbers of Java's specification

  private final Abi abi;
  private final ArmLibrary library;
  private final Emulator<?> emulator;
  private final UnidbgPointer environment;

  /** What the library has references to, each the number of its place here, from 1 on. */
  private final List<Object> references = new ArrayList<>();

  private final Map<Buffer, MemoryBlock> copies = new IdentityHashMap<>();
  private RuntimeException thrown;

  ArmJni(Abi abi, ArmLibrary library, Emulator<?> emulator) {
    this.abi = abi;
    this.library = library;
    this.emulator = emulator;
    Map<Integer, ToLongFunction<RegisterContext>> functions = functions();
    UnidbgPointer table = library.memory(abi.pointerSize * FUNCTIONS).getPointer();
    for (int i = 0; i < FUNCTIONS; i++) {
      int number = i;
      table.setPointer((long) abi.pointerSize * i, callback(functions.getOrDefault(i, context -> missing(number))));
    }
    environment = library.memory(abi.pointerSize).getPointer();
    environment.setPointer(0, table);
  }

  private UnidbgPointer callback(ToLongFunction<RegisterContext> function) {
    return emulator.getSvcMemory().registerSvc(abi.callback(function));
  }

  private long missing(int number) {
    thrown = new UnsupportedOperationException("the library calls function " + number + " of JNIEnv");
    return 0;
  }

  private Map<Integer, ToLongFunction<RegisterContext>> functions() {
    Map<Integer, ToLongFunction<RegisterContext>> functions = new HashMap<>();
    functions.put(6, call -> reference(text(call, 1))); // FindClass: a class is its name
    functions.put(14, call -> raise((String) object(call, 1), text(call, 2))); // ThrowNew
    functions.put(21, call -> call.getIntArg(1)); // NewGlobalRef
    functions.put(23, call -> 0); // DeleteLocalRef
    functions.put(33, call -> reference(text(call, 2))); // GetMethodID: a method is its name
    functions.put(50, call -> ((List<?>) object(call, 1)).size()); // CallIntMethodV: List.size alone
    functions.put(167, call -> reference(text(call, 1))); // NewStringUTF
    functions.put(172, call -> reference(new String[call.getIntArg(1)])); // NewObjectArray
    functions.put(174, this::setElement); // SetObjectArrayElement
    functions.put(179, call -> reference(new int[call.getIntArg(1)])); // NewIntArray
    functions.put(211, this::setRegion); // SetIntArrayRegion
    functions.put(228, call -> thrown == null ? 0 : 1); // ExceptionCheck
    functions.put(229, this::snapshot); // NewDirectByteBuffer
    functions.put(230, call -> copy((ByteBuffer) object(call, 1))); // GetDirectBufferAddress
    functions.put(231, call -> ((Buffer) object(call, 1)).capacity()); // GetDirectBufferCapacity
    return functions;
  }

  private long raise(String type, String message) {
    try {
      Class<?> known = Class.forName(type.replace('/', '.'));
      thrown = (RuntimeException) known.getConstructor(String.class).newInstance(message);
    } catch (ReflectiveOperationException error) {
      thrown = new IllegalStateException(type + ": " + message, error);
    }
    return 0;
  }

  private long setElement(RegisterContext call) {
    ((Object[]) object(call, 1))[call.getIntArg(2)] = object(call, 3);
    return 0;
  }

  private long setRegion(RegisterContext call) {
    int count = call.getIntArg(3);
    int[] values = call.getPointerArg(4).getIntArray(0, count);
    System.arraycopy(values, 0, object(call, 1), call.getIntArg(2), count);
    return 0;
  }

  private long snapshot(RegisterContext call) {
    byte[] content = call.getPointerArg(1).getByteArray(0, call.getIntArg(2));
    return reference(ByteBuffer.allocateDirect(content.length).put(content).rewind());
  }

  /** Where the library finds a buffer's content: always at the same address. */
  private long copy(ByteBuffer buffer) {
    byte[] content = new byte[buffer.capacity()];
    buffer.duplicate().clear().get(content);
    MemoryBlock block = copies.computeIfAbsent(buffer, any -> library.memory(content.length));
    block.getPointer().write(0, content, 0, content.length);
    return block.getPointer().peer;
  }

  private long reference(Object object) {
    references.add(object);
    return references.size();
  }

  private Object object(RegisterContext call, int argument) {
    return object(call.getIntArg(argument));
  }

  private Object object(int reference) {
    return reference == 0 ? null : references.get(reference - 1);
  }

  private static String text(RegisterContext call, int argument) {
    return call.getPointerArg(argument).getString(0);
  }

  /**
   * Calls a static native method.
   *
   * @throws RuntimeException what the library throws, or it crashed
   */
  Object call(Class<?> type, String method, String descriptor, Object[] arguments) {
    List<Object> given = new ArrayList<>(List.of(environment, abi.word(0))); // the class, which nobody asks for
    for (Object argument : arguments) {
      given.add(passed(argument));
    }
    String name = type.getName() + "." + method;
    Number answer = library.call("Java_" + name.replace('.', '_'), given.toArray());
    if (thrown != null) {
      RuntimeException error = thrown;
      thrown = null;
      throw error;
    }
    if (answer.longValue() == -1) {
      throw new IllegalStateException(name + " crashes");
    }
    return returned(answer, descriptor.charAt(descriptor.indexOf(')') + 1));
  }

  private Object passed(Object argument) {
    if (argument instanceof Boolean) {
      return (Boolean) argument ? 1 : 0;
    }
    return argument instanceof Number ? argument : abi.word(argument == null ? 0 : reference(argument));
  }

  private Object returned(Number answer, char type) {
    switch (type) {
      case 'V':
        return null;
      case 'Z':
        return (answer.intValue() & 255) != 0;
      case 'I':
        return answer.intValue();
      case 'J': // addresses alone
        return abi.word(answer);
      case 'F':
        return library.returnedFloat();
      default:
        return object(answer.intValue());
    }
  }
}
