import fc from "fast-check";
import { expect, test } from "vitest";
import { mysqlCell } from "./mysql-cells.ts";

const cell = (type: string, value: unknown): string | null =>
  mysqlCell({ type, buffer: () => value as Buffer | null }, () => value);

test.each([
  ["TINY", 1, "1"],
  ["LONGLONG", "18446744073709551615", "18446744073709551615"],
  ["NEWDECIMAL", "1200.50", "1200.50"],
  ["DOUBLE", 1e30, "1e+30"],
  ["FLOAT", Math.fround(0.1), "0.1"],
  ["FLOAT", Math.fround(16_777_217), "16777216"],
  ["FLOAT", Math.fround(1 / 3), "0.33333334"],
  ["DATETIME", "2020-01-31 10:00:00", "2020-01-31 10:00:00"],
  ["VAR_STRING", 'ü, "x"', 'ü, "x"'],
  ["VAR_STRING", "", ""],
  ["BIT", Buffer.of(1), "1"],
  ["BIT", Buffer.of(0), "0"],
  ["BIT", Buffer.of(1, 0), "256"],
  ["BLOB", Buffer.of(0, 255), "0x00FF"],
  ["GEOMETRY", Buffer.of(7), "0x07"],
  ["LONG", null, null],
  ["GEOMETRY", null, null],
])("%s %s", (type, value, text) => {
  expect(cell(type, value)).toBe(text);
});

test("the text of a FLOAT reads back as the same number", () => {
  fc.assert(
    fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (value) => {
      expect(Math.fround(Number(cell("FLOAT", value)))).toBe(value + 0);
    }),
    { seed: 7, numRuns: 500 },
  );
});
