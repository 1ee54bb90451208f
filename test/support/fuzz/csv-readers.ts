/**
 * Reads generated CSV as a party does, natively and portably: the same values, codes, ids, labels, lines, notices and
 * errors. The portable reader finds cells with TypeScript, and reads them as text.
 */
import type { SeededRandom } from "../../../src/base/random.ts";
import { TandemError } from "../../../src/base/error.ts";
import { CategoryBook } from "../../../src/data/category-book.ts";
import { rowScanner, scanRows } from "../../../src/data/csv-rows.ts";
import { streamCsvText } from "../../../src/data/csv-table.ts";
import { utf8Bytes } from "../../../src/data/csv-text.ts";
import { noConstraints } from "../../../src/data/feature-constraints.ts";
import { type TableLimits, tableLimits } from "../../../src/data/limits.ts";
import type { TableReading } from "../../../src/data/table-reading.ts";
import type { ColumnSink, TableSink } from "../../../src/data/table-sink.ts";
import type { DataConfig } from "../../../src/party/config/data-config.ts";
import { PartyTableSink } from "../../../src/party/tables/party-table-sink.ts";
import type { FuzzFormat, FuzzTarget, Outcome } from "./fuzz-format.ts";
import { mutated, oneOf } from "./mutate.ts";

const oddNumbers =
  "-0 +3 1. .5 . 1e5 1E-5 1e400 -1e-400 1e39 3.4028236e38 3.4028235677973366e38 0x10 1_000 Infinity -inf 1e 1e+ 1e5. " +
  "--1 1,5 00012 -999 0.1000000000000000055511151231257827 123456789012345678901234567890 9007199254740993 1e-45 " +
  "7.0064923216240854e-46 1.17549428e-38 5e-324 2.2250738585072011e-308 16777217 0.30000001192092896 1e22 1e23 " +
  "9.5e22 " +
  "0000000000000000000000000000001.5 1e00000000000000005 12345678901234567 0.000000000000000000000000000001234";
const oddQuotes = ['""', '"x"', '"a,b"', '"a\nb"', '"a\r\nb"', '"a\rb"', '"say ""hi"""', '"x" ', '"x"\t', '"x"\u00a0'];
const oddSpaces = ["\ufeff1", "\u00a07\u3000", "１２", "\t5", "5\r", "\v", " ", "\u2003", "A\u0085", " 7", "a\u2028b"];
const oddWords = [
  '"wrong"x',
  '"open',
  '""""',
  "",
  "abc",
  "NA",
  "nan",
  "nA ",
  "N",
  "n/a",
  "?",
  "é",
  "日本",
  "\u{1f600}",
];
const oddCells = [...oddNumbers.split(" "), ...oddQuotes, ...oddSpaces, ...oddWords];

interface CsvMutant {
  readonly pieces: readonly Buffer[];
  readonly limits: TableLimits;
  readonly reading: TableReading;
  readonly data: DataConfig;
  readonly hasLabel: boolean;
  readonly mixed: readonly string[];
  readonly text: "categories" | "refuse";
}

/** Of one kind per column, mostly. */
function cellOf(kind: number, row: number, random: SeededRandom): string {
  if (random.below(kind === 0 ? 2 : 25) === 0) return oneOf(oddCells, random);
  if (kind === 1) return String((random.uniform() - 0.5) * 10 ** (random.below(40) - 20));
  if (kind === 2) return oneOf(["a", "b", "1", "", "x y"], random);
  return `p${row}${random.below(9) === 0 ? oneOf(["é", " ", "\u{1f600}"], random) : ""}`;
}

function csvOf(random: SeededRandom): Buffer {
  const newline = oneOf(["\n", "\r\n", "\r"], random);
  const delimiter = oneOf([",", ",", ";", "\t"], random);
  const kinds = Array.from({ length: 1 + random.below(4) }, (_, column) => (column === 0 ? 3 : random.below(4)));
  const names = kinds.map((_, column) => (random.below(20) === 0 ? oneOf(oddCells, random) : `x${column}`));
  const rows = Array.from({ length: random.below(14) }, (_, row) =>
    random.below(15) === 0
      ? oneOf(["", " ", "\u3000"], random)
      : kinds.map((kind) => cellOf(kind, row, random)).join(delimiter),
  );
  const lines = [...(random.below(8) === 0 ? [""] : []), names.join(delimiter), ...rows];
  const mark = random.below(8) === 0 ? "\ufeff" : "";
  return Buffer.from(mark + lines.join(newline) + (random.below(2) === 0 ? newline : ""));
}

function piecesOf(bytes: Buffer, random: SeededRandom): Buffer[] {
  const length = random.below(2) === 0 ? bytes.length + 1 : 1 + random.below(12);
  return Array.from({ length: Math.ceil(bytes.length / length) }, (_, i) =>
    bytes.subarray(i * length, (i + 1) * length),
  );
}

function mutant(random: SeededRandom): CsvMutant {
  const bytes = csvOf(random);
  const lowered = [{ rows: 3 }, { columns: 2 }, { cellChars: 5 }, { blankLines: 1 }, { rowChars: 40 }];
  return {
    pieces: piecesOf(random.below(3) === 0 ? Buffer.from(mutated([bytes], random)) : bytes, random),
    limits: { ...tableLimits, ...(random.below(6) === 0 ? oneOf(lowered, random) : {}) },
    reading: random.below(4) === 0 ? { header: random.below(2) === 0 } : {},
    data: {
      id: "#0",
      features: "all",
      missing: oneOf([[], [], ["?"], ["-999", "é", "?"], ["1", "\ud800"]], random),
      categorical: [],
      ...noConstraints,
      normalise: oneOf(
        [[], [], ["lowercase"], ["digits"], ["strip-leading-zeros"], ["nfkc", "lowercase", "strip-leading-zeros"]],
        random,
      ),
      duplicates: oneOf(["refuse", "first", "last"], random),
    },
    hasLabel: random.below(3) === 0,
    mixed: random.below(4) === 0 ? ["x2"] : [],
    text: oneOf(["categories", "refuse"], random),
  };
}

/** Cells as text only. */
function asText(sink: TableSink): TableSink {
  const portable = (column: ColumnSink): ColumnSink => ({
    take: ({ table, index, numbers }) => column.take({ table, index, numbers }),
  });
  return {
    begin: (table) => sink.begin(table).map((column) => column && portable(column)),
    get rowBytes() {
      return sink.rowBytes;
    },
    get sizeBytes() {
      return sink.sizeBytes;
    },
  };
}

async function* piecewise(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* pieces;
}

/** @returns the error where there is one */
async function outcome(csv: CsvMutant, isNative: boolean): Promise<unknown> {
  const notices: string[] = [];
  const sink = new PartyTableSink(csv.data, csv.hasLabel ? { label: "#1" } : null, {
    text: csv.text,
    book: new CategoryBook(),
    notice: (words) => notices.push(words),
    mixed: csv.mixed,
    labels: (table, index) => ({ labels: null, classes: table.columns[index].map((cell) => cell.trim()) }),
  });
  try {
    const text = utf8Bytes("t.csv", piecewise(csv.pieces));
    const scanner = isNative ? rowScanner() : scanRows;
    const into = isNative ? sink : asText(sink);
    const rows = await streamCsvText("t.csv", text, into, csv.limits, csv.reading, scanner);
    const { table, ids } = sink.finish(rows);
    const lines = Array.from({ length: rows.rowCount }, (_, row) => rows.lineOf(row));
    // Bits, so that -0 is not 0.
    const bits = table.features.map((values) => [...new Uint32Array(values.buffer, values.byteOffset, values.length)]);
    return [table, bits, [...ids.ids], [...ids.rows], lines, notices, sink.mixed, rows.isHeaderDoubtful ?? false];
  } catch (error) {
    return error;
  }
}

function inWords(result: unknown): string {
  if (result instanceof TandemError) return `${result.code}: ${result.message}`;
  if (result instanceof Error) throw result;
  return JSON.stringify(result);
}

async function read(csv: CsvMutant): Promise<Outcome> {
  const portable = await outcome(csv, false);
  const native = await outcome(csv, true);
  if (inWords(native) !== inWords(portable))
    throw new Error(`read natively as ${inWords(native)}, but portably as ${inWords(portable)}`);
  return portable instanceof TandemError ? "refused" : "read";
}

export const csvReaders: FuzzFormat = {
  name: "csv-readers",
  prepare: async (): Promise<FuzzTarget> => ({ mutant, read }),
};
