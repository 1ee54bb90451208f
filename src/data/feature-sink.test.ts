/** Values from pieces equal values from the whole table: the same numbers, categories and errors. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { CategoryBook } from "./category-book.ts";
import { featureColumns, type FeatureReading } from "./feature-columns.ts";
import { FeatureSink } from "./feature-sink.ts";
import { type ColumnPiece, type CsvTable, numberPiece, type TableRows, textPiece } from "./table-sink.ts";

const numbers = ["1", "2.5", "-3e-7", "0", "-999", " 7 ", "0.1", "16777217"];
const words = ["a", "b c", "Infinity", "1,5", "0x10"];
const missing = ["", "NA", "nan", "?"];
const cells = fc.oneof(
  fc.array(fc.constantFrom(...numbers, ...missing), { minLength: 1, maxLength: 12 }),
  fc.array(fc.constantFrom(...words, ...missing), { minLength: 1, maxLength: 12 }),
  fc.array(fc.constantFrom(...missing), { minLength: 1, maxLength: 6 }),
  fc.array(fc.constantFrom(...numbers, "1e39", ...words, ...missing), { minLength: 1, maxLength: 12 }),
);
const options = fc.record({
  text: fc.constantFrom("categories" as const, "refuse" as const, "as trained" as const),
  isCategorical: fc.boolean(),
  missing: fc.constantFrom([], ["?"], ["?", "-999", "7"]),
  saidIn: fc.constantFrom("options" as const, "config" as const),
});

const names = ["id", "x"];

function rowsFrom(first: number, rowCount: number): TableRows {
  return { path: "t.csv", names, rowCount, lineOf: (row) => 2 + first + row };
}

/** @param cuts where a piece ends */
function piecesOf(column: readonly string[], cuts: readonly number[]): ColumnPiece[] {
  const ends = [...new Set([...cuts.map((cut) => 1 + (cut % column.length)), column.length])].sort((a, b) => a - b);
  return ends.map((end, i) => {
    const first = i === 0 ? 0 : ends[i - 1];
    const texts = column.slice(first, end);
    const rows = rowsFrom(first, texts.length);
    const values = Float64Array.from(texts, (text) => (text === "" ? NaN : Number(text)));
    const areNumbers = texts.every((text, k) => text === "" || String(values[k]) === text);
    return areNumbers ? numberPiece(rows, 1, values) : textPiece(rows, 1, texts);
  });
}

function outcome(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    return error instanceof Error ? error.message : error;
  }
}

test("for any cells and pieces", () => {
  fc.assert(
    fc.property(cells, fc.array(fc.nat(20), { maxLength: 4 }), options, (column, cuts, { isCategorical, ...said }) => {
      const reading = (): FeatureReading => ({
        ...said,
        columns: [1],
        names: ["x"],
        categorical: isCategorical ? ["x"] : [],
        book: new CategoryBook(),
      });
      const whole: CsvTable = { ...rowsFrom(0, column.length), columns: [[], column] };
      const notices: string[][] = [[], []];
      const expected = outcome(() => {
        const notice = (words: string): unknown => notices[0].push(words);
        const { features, categories } = featureColumns(whole, { ...reading(), notice });
        return { values: features[0], categories: categories["x"] ?? null };
      });
      const found = outcome(() => {
        const notice = (words: string): unknown => notices[1].push(words);
        const once = (kind: "named" | "mixed" | null): FeatureSink => {
          const sink = new FeatureSink({ ...reading(), notice, name: "x", kind });
          for (const piece of piecesOf(column, cuts)) sink.take(piece);
          return sink;
        };
        const sink = once(isCategorical ? "named" : null);
        return (sink.isMixed ? once("mixed") : sink).finish();
      });
      expect(notices[1]).toEqual(notices[0]);
      expect(found).toEqual(expected);
    }),
    { seed: 7, numRuns: 1500 },
  );
});
