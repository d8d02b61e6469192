/**
 * How two models are measured side by side: interleaved blocks, statistics, and checks of the answers.
 *
 * <p>{@link org.hsvit.benchmark.measure.Benchmark} measures a pair. What it needs of a phone comes through
 * {@link org.hsvit.benchmark.measure.RunnerFactory}, {@link org.hsvit.benchmark.measure.PictureDecoder} and
 * {@link org.hsvit.benchmark.measure.Machine}, so there is no Android here and all of it is tested on a JVM.
 * The numbers are those that {@code export/measuring} computes in Python from the same samples.
 */
package org.hsvit.benchmark.measure;
