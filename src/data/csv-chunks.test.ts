/**
 * A table must not depend on where the reads happened to end, nor on who finds its cells: the bytes arrive here in
 * pieces of every size, for the native scanner and for the portable one.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import { seedCount } from "../../test/support/campaign.ts";
import { rowScanner, scanRows, type ScanRows } from "./csv-rows.ts";
import { streamCsvText } from "./csv-table.ts";
import { utf8Bytes } from "./csv-text.ts";
import { tableLimits } from "./limits.ts";
import { TextSink } from "./table-sink.ts";

async function outcome(pieces: readonly Buffer[], scanner: ScanRows): Promise<unknown> {
  const sink = new TextSink();
  async function* source(): AsyncGenerator<Buffer> {
    yield* pieces;
  }
  try {
    const text = utf8Bytes("x.csv", source());
    const { names, rowCount, lineOf } = await streamCsvText("x.csv", text, sink, tableLimits, {}, scanner);
    return { names, columns: sink.columns, lines: Array.from({ length: rowCount }, (_, row) => lineOf(row)) };
  } catch (error) {
    return String(error);
  }
}

function cut(text: Buffer, sizes: number[]): Buffer[] {
  const result: Buffer[] = [];
  for (let at = 0, i = 0; at < text.length; i++) {
    result.push(text.subarray(at, at + sizes[i % sizes.length]));
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
      "añ日😀",
      '""',
      '"x"',
      '"a,b"',
      `"a${newline}b"`,
      '"say ""hi"""',
      '"x" ',
      '"x"\u00a0\u3000',
      ` 7`,
      '""""',
      '"wrong"x',
      '"open',
    );
    // Mostly good cells: a wrong one ends the reading.
    const row = fc.array(
      fc.oneof(
        { weight: 30, arbitrary: fc.constantFrom("1", '"q"', `"a${newline}b"`, "é") },
        { weight: 8, arbitrary: cell },
      ),
      { minLength: 2, maxLength: 2 },
    );
    const rows = fc.array(
      fc.oneof(
        { weight: 9, arbitrary: row.map((cells) => cells.join(",")) },
        { weight: 1, arbitrary: fc.constantFrom("", "\u2003") },
      ),
      { maxLength: 8 },
    );
    const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });
    let read = 0;
    await fc.assert(
      fc.asyncProperty(rows, sizes, fc.boolean(), async (lines, pieceSizes, ended) => {
        const text = Buffer.from(['id,"the name"', ...lines].join(newline) + (ended ? newline : ""));
        const whole = await outcome([text], scanRows);
        if (typeof whole === "object") read++;
        expect(await outcome(cut(text, pieceSizes), scanRows)).toEqual(whole);
        expect(await outcome([text], rowScanner())).toEqual(whole);
        expect(await outcome(cut(text, pieceSizes), rowScanner())).toEqual(whole);
      }),
      { numRuns: seedCount({ test: 80, campaign: 2000 }) },
    );
    expect(read).toBeGreaterThan(20);
  },
);
