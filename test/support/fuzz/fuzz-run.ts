/** Draws mutants of one format and reports the outcome of each. */
import { SeededRandom } from "../../../src/base/random.ts";
import { TandemError } from "../../../src/base/error.ts";
import type { FuzzTarget, Outcome } from "./fuzz-format.ts";

export interface FuzzReport {
  read: number;
  refused: number;
  slowestMs: number;
  wrong: { readonly mutant: number; readonly what: string }[];
}

export interface FuzzDraw {
  readonly seed: number;
  readonly format: string;
  readonly from: number;
  readonly count: number;
  /** Called with the number of each mutant before it is read. */
  readonly onBegin?: (mutant: number) => void;
}

export async function fuzz(target: FuzzTarget, { seed, format, from, count, onBegin }: FuzzDraw): Promise<FuzzReport> {
  const report: FuzzReport = { read: 0, refused: 0, slowestMs: 0, wrong: [] };
  for (let mutant = from; mutant < from + count; mutant++) {
    const input = target.mutant(new SeededRandom(`${seed}:${format}:${mutant}`)) as never;
    onBegin?.(mutant);
    const started = performance.now();
    try {
      report[await outcomeOf(target, input)]++;
    } catch (error) {
      report.wrong.push({ mutant, what: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
    report.slowestMs = Math.max(report.slowestMs, performance.now() - started);
  }
  return report;
}

async function outcomeOf(target: FuzzTarget, input: never): Promise<Outcome> {
  try {
    return (await target.read(input)) ?? "read";
  } catch (error) {
    if (!(error instanceof TandemError) || error.code === "INTERNAL") throw error;
    if (target.named !== undefined && !error.message.includes(target.named))
      throw new Error(`a refusal that does not name its file: ${error.code}: ${error.message}`, { cause: error });
    return "refused";
  }
}
