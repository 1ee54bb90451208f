/** A table of a benchmark's shape, from a seed: the label follows from columns of both parties, with noise. */
import { createWriteStream } from "node:fs";
import { rename } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { SeededRandom } from "../../src/base/random.ts";

export interface GeneratedShape {
  readonly rows: number;
  readonly active: number;
  readonly passive: number;
  /** Numbers of five digits, or zeros and ones of which an eighth are ones. */
  readonly cells: "continuous" | "binary";
  /** Share of the rows with label 1. */
  readonly positives: number;
}

/** Names of the features: the active party's, then the passive party's. */
export function columnsOf({ active, passive }: GeneratedShape): readonly [readonly string[], readonly string[]] {
  const names = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${prefix}${i}`);
  return [names("a", active), names("b", passive)];
}

/** Writes a CSV file with the columns id and label, and the features. */
export async function writeGeneratedTable(path: string, shape: GeneratedShape, seed: number): Promise<void> {
  const unfinished = `${path}.part`;
  await pipeline(Readable.from(linesOf(shape, seed)), createWriteStream(unfinished));
  await rename(unfinished, path);
}

function* linesOf(shape: GeneratedShape, seed: number): Generator<string> {
  const [active, passive] = columnsOf(shape);
  yield `id,label,${active.join()},${passive.join()}\n`;
  const limit = limitFor(shape, seed);
  const random = new SeededRandom(seed);
  for (let row = 0; row < shape.rows; row++) {
    const cells = drawnCells(shape, random);
    const label = score(cells, shape, random) > limit ? 1 : 0;
    yield `r${String(row).padStart(7, "0")},${label},${cells.join()}\n`;
  }
}

function drawnCells({ cells, active, passive }: GeneratedShape, random: SeededRandom): number[] {
  const drawn = Array.from({ length: active + passive }, () => random.uint32());
  return drawn.map((value) => (cells === "binary" ? Number(value % 8 === 0) : Math.floor(value / 42_949.67296) / 1e5));
}

/** Two columns of each party, a product of both parties' columns, and noise. */
function score(cells: readonly number[], { active }: GeneratedShape, random: SeededRandom): number {
  const [a, b] = [cells, cells.slice(active)];
  return a[0] - a[1] + b[0] - b[1] + 2 * a[2] * b[2] + 0.5 * random.normal();
}

/** The score above which a row is positive, from a sample of rows. */
function limitFor(shape: GeneratedShape, seed: number): number {
  const random = new SeededRandom(`${seed} limit`);
  const few = { ...shape, active: 3, passive: 3 };
  const scores = Float64Array.from({ length: 50_000 }, () => score(drawnCells(few, random), few, random)).sort();
  return scores[Math.floor(scores.length * (1 - shape.positives))];
}
