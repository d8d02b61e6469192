package org.hsvit.benchmark.report;

import java.lang.reflect.Array;
import java.util.Collection;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/** Makes JSON without checked exceptions, as all values here are valid: text, finite numbers, other JSON. */
public final class Json {
  private Json() {}

  /** An object of alternating names and values; null becomes JSON's null, collections become arrays. */
  public static JSONObject object(Object... namesAndValues) {
    JSONObject object = new JSONObject();
    try {
      for (int i = 0; i < namesAndValues.length; i += 2) {
        object.put((String) namesAndValues[i], value(namesAndValues[i + 1]));
      }
    } catch (JSONException error) {
      throw new IllegalArgumentException(error);
    }
    return object;
  }

  private static Object value(Object value) throws JSONException {
    if (value instanceof Collection) {
      return new JSONArray((Collection<?>) value);
    }
    if (value != null && value.getClass().isArray()) {
      JSONArray array = new JSONArray();
      for (int i = 0; i < Array.getLength(value); i++) {
        array.put(value(Array.get(value, i)));
      }
      return array;
    }
    return value == null ? JSONObject.NULL : value;
  }

  /** Indented text, one value on each line. */
  public static String text(JSONObject object) {
    try {
      return object.toString(1) + "\n";
    } catch (JSONException error) {
      throw new IllegalArgumentException(error);
    }
  }
}
