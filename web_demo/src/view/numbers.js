/** Numbers as the reader writes them. */

const LOCALES = globalThis.navigator?.languages?.length ? [...navigator.languages] : undefined;
const UNKNOWN = "–";

const short = new Intl.NumberFormat(LOCALES, { maximumSignificantDigits: 3 });
const whole = new Intl.NumberFormat(LOCALES);
const three = new Intl.NumberFormat(LOCALES, { minimumFractionDigits: 3, maximumFractionDigits: 3 });
const share = new Intl.NumberFormat(LOCALES, { style: "percent", maximumFractionDigits: 1 });
const time = unit("millisecond", { minimumSignificantDigits: 3 });
const shortTime = unit("millisecond");
const sizes = [
  [1e9, unit("gigabyte")],
  [1e6, unit("megabyte")],
  [1e3, unit("kilobyte")],
  [1, unit("byte")],
];

function unit(name, digits = {}) {
  return new Intl.NumberFormat(LOCALES, { style: "unit", unit: name, maximumSignificantDigits: 3, ...digits });
}

const known = (format) => (value) => value === null || value === undefined ? UNKNOWN : format(value);

export const number = known((value) => short.format(value));
export const integer = known((value) => whole.format(value));
export const ratio = known((value) => three.format(value));
export const percent = known((value) => share.format(value));
export const milliseconds = known((value) => time.format(value));
/** Milliseconds without zeros at the end, as of a clock's steps. */
export const step = known((value) => shortTime.format(value));
export const size = known((bytes) => {
  const [scale, format] = sizes.find(([least]) => bytes >= least) ?? sizes.at(-1);
  return format.format(bytes / scale);
});

/** A value of one of a task's measures. */
export function measured(measure, values) {
  const value = values?.[measure.name];
  return measure.is_share ? percent(value) : number(value);
}
