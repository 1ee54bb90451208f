/** What the addon makes of cells equals what TypeScript makes of them: numbers, ids, bins. */
import { expect, test } from "vitest";
import { seedCount } from "../../test/support/campaign.ts";
import { plainAddon } from "../base/plain-addon.ts";
import { SeededRandom } from "../base/random.ts";
import { TextIndex } from "../base/text/text-index.ts";
import { columnLoops, portableLoops } from "../gbdt/split/column-loops.ts";
import { IdCollector, normalisationNames } from "../psi/normalise.ts";
import { CellBlock } from "./cell-block.ts";
import { cellNumbers, MissingTokens } from "./cell-numbers.ts";
import { numbersIn } from "./columns.ts";
import type { ColumnPiece } from "./table-sink.ts";

const isNative = plainAddon() !== null;
const bitsOf = (values: Float32Array | null): number[] | null =>
  values && [...new Uint32Array(Float32Array.from(values).buffer)];

/** A column of one table, without quotes. */
function pieceOf(texts: readonly string[]): ColumnPiece & { readonly cells: NonNullable<ColumnPiece["cells"]> } {
  const bytes = Buffer.from(texts.join("\n"));
  const cells = new Uint32Array(2 * texts.length);
  let at = 0;
  texts.forEach((text, row) => {
    cells.set([at, Buffer.byteLength(text)], 2 * row);
    at += Buffer.byteLength(text) + 1;
  });
  const rows = { path: "t.csv", names: ["x"], rowCount: texts.length, lineOf: (row: number) => row + 2 };
  const piece = new CellBlock(bytes, cells, texts.length, 1).piece(rows, 0);
  if (piece.cells === undefined) throw new Error("a block gives bytes");
  return { ...piece, cells: piece.cells };
}

/** A decimal of any length and exponent, near to where float32 and float64 round. */
function decimal(random: SeededRandom): string {
  const digits = (count: number): string => Array.from({ length: count }, () => random.below(10)).join("");
  const kind = random.below(6);
  if (kind === 0) return `${digits(1 + random.below(25))}.${digits(random.below(25))}e${random.below(70) - 60}`;
  if (kind === 1) return String((random.uniform() - 0.5) * 10 ** (random.below(76) - 38));
  // Half way between two float32 numbers, as a double, and a little beside it.
  const value = Math.fround(random.uniform() * 2 ** (random.below(60) - 30));
  const [bits] = new Uint32Array(Float32Array.of(value).buffer);
  const [next] = new Float32Array(Uint32Array.of(bits + 1).buffer);
  const half = (value + next) / 2;
  if (kind === 2) return String(half);
  if (kind === 3) return half.toPrecision(17).replace(/(?=e|$)/, digits(5));
  // Half way between two doubles.
  if (kind === 4) return String(2n ** 53n * BigInt(1 + random.below(2 ** 20)) + BigInt(random.below(2 ** 12)));
  const sign = random.below(2) === 0 ? "-" : "+";
  return `${sign}${digits(1 + random.below(18))}${oneDot(random)}${digits(random.below(4))}`;
}

const oneDot = (random: SeededRandom): string => (random.below(2) === 0 ? "." : "");

test.skipIf(!isNative)("decimals are the float32 numbers that JavaScript reads", () => {
  const random = new SeededRandom("decimals");
  let read = 0;
  for (let round = 0; round < seedCount({ test: 20, campaign: 5000 }); round++) {
    const piece = pieceOf(Array.from({ length: 100 }, () => decimal(random)));
    const native = cellNumbers(piece.cells, new MissingTokens([]));
    if (native === null) continue; // a cell needs TypeScript: an underflow
    read++;
    expect(bitsOf(native)).toEqual(bitsOf(numbersIn(piece.table, 0, new Set())));
  }
  expect(read).toBeGreaterThan(10);
});

test.skipIf(!isNative)("one cell of each kind: a number, missing, or left to TypeScript", () => {
  const missing = ["?", "-999", "é", "\ud800", ""];
  const cells = [
    "1.5",
    "-0",
    " 2\t",
    "\u00a07\u3000",
    "",
    " ",
    "NA",
    "nAn",
    "?",
    "-999",
    "é",
    "-999.0",
    "1.",
    ".5",
    "+3",
  ];
  const text = [
    "abc",
    "0x10",
    "1_0",
    "１",
    ".",
    "+",
    "1e",
    "1e+",
    "1e5.",
    "Infinity",
    "1e39",
    "-3.4028236e38",
    "\ufffd",
  ];
  for (const cell of [...cells, ...text]) {
    const piece = pieceOf([cell]);
    const native = cellNumbers(piece.cells, new MissingTokens(missing));
    if (text.includes(cell)) expect(native, cell).toBeNull();
    else expect(bitsOf(native), cell).toEqual(bitsOf(numbersIn(piece.table, 0, new Set(missing))));
  }
});

test("ids of cells are those of their texts, whatever is done to them", () => {
  const random = new SeededRandom("ids");
  const part = (): string => ["p", "P", "0", "00", "7", "é", " ", "ﬁ", "x9", "\u{1f600}", ""][random.below(11)];
  for (let round = 0; round < seedCount({ test: 60, campaign: 3000 }); round++) {
    const normalise = normalisationNames.filter(() => random.below(3) === 0);
    const texts = Array.from({ length: 1 + random.below(60) }, (_, row) => `${part()}${part()}${part()}${row >> 1}`);
    const duplicates = (["refuse", "first", "last"] as const)[random.below(3)];
    const collect = (fill: (ids: IdCollector) => void): unknown => {
      const ids = new IdCollector(normalise, duplicates);
      fill(ids);
      try {
        const found = ids.finish();
        return { ids: [...found.ids], rows: [...found.rows] };
      } catch (error) {
        return String(error);
      }
    };
    const cut = random.below(texts.length);
    const native = collect((ids) => {
      ids.addCells(pieceOf(texts.slice(0, cut)).cells);
      ids.addCells(pieceOf(texts.slice(cut)).cells);
    });
    expect(native).toEqual(collect((ids) => texts.forEach((text) => ids.add(text))));
  }
});

test("an index that was filled natively finds every text, and no other", () => {
  const index = new TextIndex();
  const texts = Array.from({ length: 5000 }, (_, i) => `t${i}`);
  const { cells } = pieceOf(texts);
  const found = new Uint32Array(texts.length);
  for (let row = 0; row < texts.length; row++) {
    row = index.addCells(cells, row, 0, found);
    if (row < texts.length) index.add(texts[row]);
  }
  expect(texts.map((text) => index.indexOf(text))).toEqual(texts.map((_, i) => i));
  expect([index.indexOf("t5000"), index.indexOf(""), index.indexOf("T1")]).toEqual([-1, -1, -1]);
  expect(index.add("日本")).toEqual({ index: 5000, isNew: true });
  expect(index.indexOf("t4999")).toBe(4999);
});

test("bins are the same for values at, between and beyond all thresholds", () => {
  const random = new SeededRandom("bins");
  for (const count of [1, 2, 3, 31, 256]) {
    const thresholds = Float32Array.from({ length: count }, (_, i) => i * 0.7 - 20);
    const drawn = Array.from({ length: 500 }, () => random.normal() * count);
    const values = Float32Array.from([...drawn, ...thresholds, NaN, -0, 3e38, -3e38]);
    const [native, portable] = [columnLoops(), portableLoops].map((loops) => {
      const bins = new Uint16Array(values.length);
      loops.binValues(values, thresholds, bins);
      return [...bins];
    });
    expect(native).toEqual(portable);
  }
});
