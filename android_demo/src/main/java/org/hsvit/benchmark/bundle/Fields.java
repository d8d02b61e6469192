package org.hsvit.benchmark.bundle;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.json.JSONArray;
import org.json.JSONObject;

/** The fields of a JSON object, read strictly: errors name the field, its value and what it must be. */
final class Fields {
  private final JSONObject object;
  private final String place;

  /**
   * @param place path of the object, with which error messages begin: {@code bundle.json: models[0].}
   */
  Fields(JSONObject object, String place) {
    this.object = object;
    this.place = place;
  }

  /** Whether a field is missing or null. */
  boolean isNull(String name) {
    return object.isNull(name);
  }

  String text(String name) throws BundleException {
    return as(String.class, name, "a text");
  }

  boolean flag(String name) throws BundleException {
    return as(Boolean.class, name, "true or false");
  }

  /** An integer of at least {@code least} and at most {@code most}. */
  long integer(String name, long least, long most) throws BundleException {
    Object value = object.opt(name);
    if (value instanceof Integer || value instanceof Long) {
      long number = ((Number) value).longValue();
      if (least <= number && number <= most) {
        return number;
      }
    }
    throw wrong(name, least == most ? "" + least : "an integer from " + least + " to " + most);
  }

  double number(String name) throws BundleException {
    return finite(name, object.opt(name));
  }

  /** A number from 0 to 1. */
  double share(String name) throws BundleException {
    double number = number(name);
    if (number < 0 || number > 1) {
      throw wrong(name, "from 0 to 1");
    }
    return number;
  }

  Fields object(String name) throws BundleException {
    return new Fields(as(JSONObject.class, name, "an object"), place + name + ".");
  }

  List<Fields> objects(String name) throws BundleException {
    JSONArray array = as(JSONArray.class, name, "a list of objects");
    List<Fields> objects = new ArrayList<>();
    for (int i = 0; i < array.length(); i++) {
      if (!(array.opt(i) instanceof JSONObject)) {
        throw wrong(name + "[" + i + "]", array.opt(i), "an object");
      }
      objects.add(new Fields((JSONObject) array.opt(i), place + name + "[" + i + "]."));
    }
    return objects;
  }

  List<String> texts(String name) throws BundleException {
    JSONArray array = as(JSONArray.class, name, "a list of texts");
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < array.length(); i++) {
      if (!(array.opt(i) instanceof String)) {
        throw wrong(name + "[" + i + "]", array.opt(i), "a text");
      }
      texts.add((String) array.opt(i));
    }
    return texts;
  }

  /** All fields of the object, which must be numbers. */
  Map<String, Double> namedNumbers() throws BundleException {
    Map<String, Double> numbers = new TreeMap<>();
    for (Iterator<String> names = object.keys(); names.hasNext(); ) {
      String name = names.next();
      numbers.put(name, number(name));
    }
    return numbers;
  }

  List<Double> numbers(String name) throws BundleException {
    return numbers(name, as(JSONArray.class, name, "a list of numbers"));
  }

  private List<Double> numbers(String name, JSONArray array) throws BundleException {
    List<Double> numbers = new ArrayList<>();
    for (int i = 0; i < array.length(); i++) {
      numbers.add(finite(name + "[" + i + "]", array.opt(i)));
    }
    return numbers;
  }

  /** The JSON parser of older Android versions accepts NaN and Infinity. */
  private double finite(String name, Object value) throws BundleException {
    double number = value instanceof Number ? ((Number) value).doubleValue() : Double.NaN;
    if (Double.isNaN(number) || Double.isInfinite(number)) {
      throw wrong(name, value == null ? "missing" : value, "a number");
    }
    return number;
  }

  private <T> T as(Class<T> type, String name, String expected) throws BundleException {
    Object value = object.opt(name);
    if (!type.isInstance(value)) {
      throw wrong(name, expected);
    }
    return type.cast(value);
  }

  /** The error of a field with a wrong value. */
  BundleException wrong(String name, String expected) {
    return wrong(name, object.has(name) ? object.opt(name) : "missing", expected);
  }

  private BundleException wrong(String name, Object value, String expected) {
    String shown = String.valueOf(value);
    shown = shown.length() > 80 ? shown.substring(0, 80) + "..." : shown;
    return new BundleException(place + name + " is " + shown + ", it must be " + expected);
  }
}
