import { expect, test } from "vitest";
import {
  formatBits,
  formatBytes,
  formatMilliseconds,
  formatPercent,
  formatPerPerson,
  formatSeconds,
} from "./format.ts";

test.each([
  [0, "0.0 s"],
  [9.94, "9.9 s"],
  [9.96, "10 s"],
  [99.4, "99 s"],
  [99.6, "1 min 40 s"],
  [119.6, "2 min 0 s"],
  [5999, "99 min 59 s"],
  [6000, "1 h 40 min"],
  [7199.7, "2 h 0 min"],
])("%f seconds are %s", (seconds, text) => expect(formatSeconds(seconds)).toBe(text));

test.each([
  [0, "0 ms"],
  [999.4, "999 ms"],
  [999.5, "1.0 s"],
])("%f milliseconds are %s", (ms, text) => expect(formatMilliseconds(ms)).toBe(text));

test.each([
  [999, "999 B"],
  [1000, "1.00 kB"],
  [999_499, "999 kB"],
  [999_500, "1.00 MB"],
])("%d bytes are %s", (bytes, text) => expect(formatBytes(bytes)).toBe(text));

test.each([
  [0, "0"],
  [0.0004, "below 0.001"],
  [0.031, "0.031"],
  [74.52, "74.5"],
  [12_345.6, "12,345.6"],
  [Number.NaN, "0"],
])("%f per person is %s", (amount, text) => expect(formatPerPerson(amount)).toBe(text));

test.each([
  [0, "0%"],
  [0.0004, "below 0.1%"],
  [0.012, "1.2%"],
  [0.37, "37%"],
  [0.9986, "99.9%"],
  [0.9996, "over 99.9%"],
  [1, "100%"],
  [Number.NaN, "0%"],
])("a share of %f is %s", (share, text) => expect(formatPercent(share)).toBe(text));

test.each([
  [0, "0.00"],
  [4.564, "4.56"],
  [9.996, "10.0"],
  [22.21, "22.2"],
])("%f bits are %s", (bits, text) => expect(formatBits(bits)).toBe(text));
