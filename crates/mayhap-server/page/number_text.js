// How numbers are written for people. The exact values stay in `data-value`; nothing here feeds a computation.
import { currentLanguage } from "./text.js";

/** The locale of the current language. */
export function locale() {
  return currentLanguage() === "zh" ? "zh-CN" : "en";
}

/** 1,234,567. Takes numbers and BigInts. */
export function whole(value) {
  return new Intl.NumberFormat(locale(), { maximumFractionDigits: 0 }).format(value);
}

/** Three significant digits, or as many as given. */
export function digits(value, count = 3) {
  const size = Math.abs(Number(value));
  if (size !== 0 && (size < 1e-4 || size >= 1e15)) return Number(value).toExponential(count - 1);
  return new Intl.NumberFormat(locale(), { maximumSignificantDigits: count }).format(value);
}

/** A rate as a percentage; very small ones as a power of ten. */
export function rate(value, count = 3) {
  const number = Number(value);
  if (number === 0) return "0 %";
  if (number < 1e-6) return number.toExponential(count - 1);
  return `${new Intl.NumberFormat(locale(), { maximumSignificantDigits: count }).format(number * 100)} %`;
}

const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/** Bytes with a binary unit. */
export function size(bytes) {
  let value = Number(bytes);
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const name = unit === 0 && currentLanguage() === "zh" ? "字节" : UNITS[unit];
  const text = new Intl.NumberFormat(locale(), unit === 0 ? {} : { maximumSignificantDigits: value >= 1000 ? 4 : 3 });
  return `${text.format(value)} ${name}`;
}

const SHORT = [
  [1e18, "E"],
  [1e15, "P"],
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
];

/** 1.5M: for axes and tiles. */
export function short(value) {
  const number = Number(value);
  for (const [unit, name] of SHORT) {
    if (Math.abs(number) >= unit) {
      return new Intl.NumberFormat(locale(), { maximumSignificantDigits: 3 }).format(number / unit) + name;
    }
  }
  return digits(number);
}
