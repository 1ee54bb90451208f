/**
 * The gain of each shortcut: the time per tree without it over the time per tree with all shortcuts. The model is the
 * same. The last line is the paper's setting, where everything but batching is off.
 */
import { TandemError } from "../../src/base/error.ts";
import { firstDifference } from "../../src/gbdt/tree/model-compare.ts";
import type { Figure } from "./arithmetic.ts";
import { benchJob, type Columns, secondsPerTree, span, type TrainingBench } from "./training.ts";
import { allShortcuts, type Shortcuts } from "../../src/scheme/shortcuts.ts";
import { runFederation } from "../../src/simulate/federation.ts";

const keyBits = 1024;

/** Names end in what is off. */
export const ablationVariants: Readonly<Record<string, Partial<Shortcuts>>> = {
  "no-packing": { packing: false },
  "no-subtraction": { subtraction: false },
  "no-joint-bins": { jointBins: false },
  "no-skip-bin": { skipBin: false },
  "textbook-encryption": { ownerEncryption: false },
  "everything-off": {
    packing: false,
    subtraction: false,
    jointBins: false,
    skipBin: false,
    ownerEncryption: false,
  },
};

export async function benchAblation(
  table: Columns,
  bench: TrainingBench,
  onFigure: (figure: Figure) => void,
): Promise<void> {
  for (const [name, changed] of Object.entries(ablationVariants)) {
    bench.onProgress(`ablation: ${name}, ${keyBits}-bit key`);
    const trees = bench.quick || changed.ownerEncryption === false ? 1 : 4;
    const all: number[] = [];
    const without: number[] = [];
    for (let repeat = 0; repeat < (bench.quick ? 1 : 2); repeat++) {
      const full = await runFederation(benchJob(table, keyBits, trees));
      const { job, ...others } = benchJob(table, keyBits, trees);
      const less = await runFederation({ ...others, job: { ...job, shortcuts: { ...allShortcuts, ...changed } } });
      const difference = firstDifference(full.model, less.model);
      if (difference !== null) throw new TandemError("INTERNAL", `${name} changes the model: ${difference}`);
      all.push(secondsPerTree(full));
      without.push(secondsPerTree(less));
    }
    const parts = { all: span(all), without: span(without) };
    onFigure({ name: `ablation.${name}`, value: parts.without.min / parts.all.min, parts });
  }
}
