/**
 * A run over several pairs, and its report in the format of {@code measuring/benchmark.schema.json}.
 *
 * <p>{@link org.hsvit.benchmark.report.Session} measures pair after pair and writes the report after each. No
 * Android here.
 */
package org.hsvit.benchmark.report;
