package org.hsvit.benchmark.device;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.hsvit.benchmark.bundle.InputRange;
import org.tensorflow.lite.support.metadata.MetadataExtractor;
import org.tensorflow.lite.support.metadata.schema.AssociatedFile;
import org.tensorflow.lite.support.metadata.schema.AssociatedFileType;
import org.tensorflow.lite.support.metadata.schema.NormalizationOptions;
import org.tensorflow.lite.support.metadata.schema.ProcessUnit;
import org.tensorflow.lite.support.metadata.schema.ProcessUnitOptions;
import org.tensorflow.lite.support.metadata.schema.TensorMetadata;

/** What a {@code .tflite} file says of itself in the standard TFLite metadata: its input range and its classes. */
public final class TfliteMetadata {
  /** Of a file that says nothing. */
  public static final TfliteMetadata NONE = new TfliteMetadata(null, null, List.of());

  private static final double WHITE = 255; // pixels before normalization

  /** The numbers of black and white pixels; null where the file does not say them. */
  public final InputRange range;

  /** The normalization of each colour, where they differ and no one range says it; null otherwise. */
  public final String ofColours;

  /** Names of the classes; empty where the file has none. */
  public final List<String> classNames;

  public TfliteMetadata(InputRange range, String ofColours, List<String> classNames) {
    this.range = range;
    this.ofColours = ofColours;
    this.classNames = List.copyOf(classNames);
  }

  /**
   * Reads the metadata of a file.
   *
   * @param model the file's content, which may be mapped
   * @return {@link #NONE} if it has no metadata, or damaged one
   */
  public static TfliteMetadata read(ByteBuffer model) {
    try {
      MetadataExtractor extractor = new MetadataExtractor(model);
      return extractor.hasMetadata() ? read(extractor) : NONE;
    } catch (IOException | RuntimeException error) {
      return NONE;
    }
  }

  private static TfliteMetadata read(MetadataExtractor extractor) throws IOException {
    NormalizationOptions scaling = scaling(extractor.getInputTensorMetadata(0));
    boolean differ = scaling != null && differ(scaling);
    return new TfliteMetadata(
        scaling == null || differ ? null : range(scaling.mean(0), scaling.std(0)),
        differ ? text(scaling) : null,
        classNames(extractor));
  }

  private static NormalizationOptions scaling(TensorMetadata input) {
    for (int i = 0; input != null && i < input.processUnitsLength(); i++) {
      ProcessUnit unit = input.processUnits(i);
      if (unit.optionsType() == ProcessUnitOptions.NormalizationOptions) {
        NormalizationOptions options = (NormalizationOptions) unit.options(new NormalizationOptions());
        return options.meanLength() > 0 && options.stdLength() > 0 ? options : null;
      }
    }
    return null;
  }

  private static boolean differ(NormalizationOptions scaling) {
    boolean differ = false;
    for (int i = 1; i < scaling.meanLength(); i++) {
      differ |= scaling.mean(i) != scaling.mean(0);
    }
    for (int i = 1; i < scaling.stdLength(); i++) {
      differ |= scaling.std(i) != scaling.std(0);
    }
    return differ;
  }

  /** A pixel becomes (pixel - mean) / std. */
  private static InputRange range(double mean, double std) {
    try {
      return new InputRange(rounded((0 - mean) / std), rounded((WHITE - mean) / std));
    } catch (IllegalArgumentException error) {
      return null; // such as std=0
    }
  }

  /** Means and deviations are 32-bit numbers, by which -1 may be stored as -0.99999998. */
  private static double rounded(double value) {
    return new BigDecimal(value).round(new MathContext(6)).doubleValue();
  }

  private static String text(NormalizationOptions scaling) {
    List<String> parts = new ArrayList<>();
    int colours = Math.max(scaling.meanLength(), scaling.stdLength());
    for (int i = 0; i < colours; i++) {
      double mean = scaling.mean(Math.min(i, scaling.meanLength() - 1));
      double std = scaling.std(Math.min(i, scaling.stdLength() - 1));
      parts.add(String.format(Locale.ROOT, "(x − %.4g) / %.4g", mean, std));
    }
    return String.join(", ", parts);
  }

  private static List<String> classNames(MetadataExtractor extractor) throws IOException {
    TensorMetadata output = extractor.getOutputTensorMetadata(0);
    for (int i = 0; output != null && i < output.associatedFilesLength(); i++) {
      AssociatedFile file = output.associatedFiles(i);
      if (file.type() == AssociatedFileType.TENSOR_AXIS_LABELS) {
        return lines(extractor.getAssociatedFile(file.name()));
      }
    }
    return List.of();
  }

  private static List<String> lines(InputStream file) throws IOException {
    List<String> lines = new ArrayList<>();
    try (BufferedReader reader = new BufferedReader(new InputStreamReader(file, StandardCharsets.UTF_8))) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        lines.add(line);
      }
    }
    return lines;
  }
}
