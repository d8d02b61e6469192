/**
 * A run over several pairs, and its report in the form of {@code export/benchmark.schema.json}.
 *
 * <p>{@link org.hsvit.benchmark.report.Session} measures pair after pair and keeps the report on disk
 * complete. No Android here.
 */
package org.hsvit.benchmark.report;
