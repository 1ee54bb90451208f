/**
 * What each shortcut buys: the time per tree without it over the time per tree with everything on, and the same model
 * either way. The last line is the paper's setting, where everything but batching is off.
 */
import { TandemError } from "../base/error.ts";
import { firstDifference } from "../gbdt/model-compare.ts";
import type { Figure } from "./bench-arithmetic.ts";
import { benchJob, type Columns, secondsPerTree, type TrainingBench } from "./bench-training.ts";
import { runFederation } from "./federation.ts";

const keyBits = 1024;

/** Names end in what is off. */
const variants: Readonly<Record<string, Readonly<Record<string, string | boolean>>>> = {
  "no-packing": { packing: false },
  "no-subtraction": { subtraction: false },
  "no-joint-bins": { joint_bins: false },
  "no-skip-bin": { skip_bin: false },
  "textbook-encryption": { encryption: "textbook" },
  "everything-off": { packing: false, subtraction: false, joint_bins: false, skip_bin: false, encryption: "textbook" },
};

export async function benchAblation(table: Columns, bench: TrainingBench, onFigure: (figure: Figure) => void): Promise<void> {
  for (const [name, speed] of Object.entries(variants)) {
    bench.onProgress(`ablation: ${name}, ${keyBits}-bit key`);
    const job = benchJob(table, keyBits, 1);
    const full = await runFederation(job);
    const without = await runFederation({ ...job, speed });
    const difference = firstDifference(full.model, without.model);
    if (difference !== null) throw new TandemError("INTERNAL", `${name} changes the model: ${difference}`);
    const [all, less] = [secondsPerTree(full), secondsPerTree(without)];
    onFigure({ name: `ablation.${name}`, value: less / all, parts: { all: { min: all, median: all }, without: { min: less, median: less } } });
  }
}
