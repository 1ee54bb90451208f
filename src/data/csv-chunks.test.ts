/** A table must not depend on where the reads happened to end: the text arrives here in pieces of every size. */
import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { readCsvTable } from "./csv-table.ts";

let pieces: string[] = [];
vi.mock("./csv-text.ts", () => ({
  async *csvText() {
    yield* pieces;
  },
}));

async function outcome(): Promise<unknown> {
  try {
    const { names, columns, rowCount, lineOf } = await readCsvTable("x.csv");
    return { names, columns, lines: Array.from({ length: rowCount }, (_, row) => lineOf(row)) };
  } catch (error) {
    return String(error);
  }
}

function cut(text: string, sizes: number[]): string[] {
  const result: string[] = [];
  for (let at = 0, i = 0; at < text.length; i++) {
    result.push(text.slice(at, at + sizes[i % sizes.length]));
    at += sizes[i % sizes.length];
  }
  return result;
}

it.each(["\n", "\r\n", "\r"])(
  "gives the same table or the same error for any pieces of the text (%j)",
  async (newline) => {
    const cell = fc.constantFrom(
      "1",
      "",
      "abc",
      '""',
      '"x"',
      '"a,b"',
      `"a${newline}b"`,
      '"say ""hi"""',
      '"x" ',
      ` 7`,
      '""""',
      '"wrong"x',
      '"open',
    );
    // Mostly good cells: a wrong one ends the reading.
    const row = fc.array(
      fc.oneof(
        { weight: 30, arbitrary: fc.constantFrom("1", '"q"', `"a${newline}b"`) },
        { weight: 8, arbitrary: cell },
      ),
      { minLength: 2, maxLength: 2 },
    );
    const rows = fc.array(
      fc.oneof(
        { weight: 9, arbitrary: row.map((cells) => cells.join(",")) },
        { weight: 1, arbitrary: fc.constant("") },
      ),
      { maxLength: 8 },
    );
    const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(rows, sizes, fc.boolean(), async (lines, pieceSizes, ended) => {
        const text = ['id,"the name"', ...lines].join(newline) + (ended ? newline : "");
        pieces = [text];
        const whole = await outcome();
        pieces = cut(text, pieceSizes);
        expect(await outcome()).toEqual(whole);
      }),
      { numRuns: 400 },
    );
  },
);
