/**
 * CSV to bins, against pandas and XGBoost on the same file: CPU time of this process and of python3. Tandem's part has
 * the ids too, as alignment compares them, and the table's digest.
 */
import { execFile } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { SeededRandom } from "../../src/base/random.ts";
import { noConstraints } from "../../src/data/feature-constraints.ts";
import { tableDigest } from "../../src/data/table-digest.ts";
import { binTable, readPartyTable } from "../../src/party/tables/party-data.ts";
import type { Figure } from "./arithmetic.ts";
import { pythonWithXgboost } from "./local-xgboost.ts";
import { cpuSeconds } from "./measure.ts";
import { span, type TrainingBench } from "./training.ts";

const run = promisify(execFile);
const columnCount = 10;
const maxBin = 256;

/** Prints CPU seconds of reading, of the matrix, and of a matrix of bins in its place. */
const script = `
import sys, time, pandas, xgboost
clock = [time.process_time()]
table = pandas.read_csv(sys.argv[1])
clock.append(time.process_time())
features = table.drop(columns=["id"])
xgboost.DMatrix(features, nthread=2)
clock.append(time.process_time())
xgboost.QuantileDMatrix(features, max_bin=int(sys.argv[2]), nthread=2)
clock.append(time.process_time())
print(*[after - before for before, after in zip(clock, clock[1:])])
`;

export interface ReadingBench extends TrainingBench {
  readonly repeats: number;
  readonly onLeftOut: (what: string) => void;
}

export async function benchReading(bench: ReadingBench, onFigure: (figure: Figure) => void): Promise<void> {
  const python = pythonWithXgboost("pandas");
  if (python === null) {
    bench.onLeftOut("reading: no python3 here has pandas and xgboost (pip install pandas xgboost)");
    return;
  }
  const folder = await mkdtemp(join(tmpdir(), "tandem-reading-"));
  try {
    const path = join(folder, "table.csv");
    const rowCount = bench.quick ? 20_000 : 1_000_000;
    bench.onProgress(`reading: ${rowCount} rows of ${columnCount} features`);
    await pipeline(csvOf(rowCount, bench.seed), createWriteStream(path));
    const ours: number[] = [];
    const theirs: number[] = [];
    const bins: number[] = [];
    await readAndBin(path); // warm: code is compiled
    for (let repeat = 0; repeat < bench.repeats; repeat++) {
      const began = cpuSeconds();
      await readAndBin(path);
      ours.push(cpuSeconds() - began);
      const { stdout } = await run(python, ["-c", script, path, String(maxBin)]);
      const [read, matrix, quantile] = stdout.trim().split(" ").map(Number);
      theirs.push(read + matrix);
      bins.push(read + quantile);
    }
    const value = Math.min(...ours) / Math.min(...theirs);
    const parts = { tandem: span(ours), pandasAndMatrix: span(theirs), pandasAndBins: span(bins) };
    onFigure({ name: "reading.overPandas", value, bar: { atMost: 2 }, parts });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function readAndBin(path: string): Promise<string> {
  const lists = { missing: [], categorical: [], normalise: [] };
  const data = { id: "id", features: "all" as const, duplicates: "refuse" as const, ...lists, ...noConstraints };
  const { table } = await readPartyTable({ path }, data, null);
  binTable(table, { maxBin, enableCategorical: false, maxCatToOnehot: 4 });
  return tableDigest(table);
}

/** Whole numbers, and numbers with two, six and up to seventeen digits; every fourth column has missing cells. */
function* csvOf(rowCount: number, seed: number): Generator<string> {
  const random = new SeededRandom(`reading/${seed}`);
  const names = Array.from({ length: columnCount }, (_, column) => `x${column}`);
  yield `${["id", ...names].join()}\n`;
  const first = random.below(rowCount);
  for (let row = 0; row < rowCount; row++) {
    const cells = names.map((_, column) =>
      column % 4 === 3 && random.below(20) === 0 ? "" : numberText(column, random.uniform() * 200 - 100),
    );
    // All rows, in another order: the step has no factor in common with their number.
    yield `p${String((first + row * 7919) % rowCount).padStart(7, "0")},${cells.join()}\n`;
  }
}

function numberText(column: number, value: number): string {
  if (column < 3) return String(Math.round(1000 * value));
  if (column < 6) return value.toFixed(2);
  return column < 8 ? value.toFixed(6) : String(value);
}
