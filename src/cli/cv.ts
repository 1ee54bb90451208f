/** `tandem cv`: k-fold cross-validation of a simulation. */
import { Command } from "commander";
import { TandemError } from "../base/error.ts";
import type { CrossValidation } from "../experiment/cross-validate.ts";
import { addJobOptions, type JobFlags, jobFrom } from "./job-options.ts";
import { addProgressOptions, Progress, type ProgressFlags } from "./progress.ts";
import { textTable } from "./text-table.ts";

interface CvFlags extends JobFlags, ProgressFlags {
  readonly folds: string;
  readonly check?: boolean;
}

const foldsMax = 100;

export function cvCommand(): Command {
  const command = new Command("cv").description("cross-validate a simulation: as many whole jobs as folds, each tested on rows that it has not seen");
  return addProgressOptions(addJobOptions(command))
    .option("--folds <count>", "number of folds", "5")
    .option("--check", "compare every fold with centralised training, node by node")
    .action(runCv);
}

async function runCv(flags: CvFlags): Promise<void> {
  if (flags.testFraction !== undefined || flags.testData !== undefined) throw new TandemError("USAGE", "cv tests on its folds: --test-fraction and --test-data have no meaning here");
  const folds = Number(flags.folds);
  if (!Number.isInteger(folds) || folds < 2 || folds > foldsMax) throw new TandemError("USAGE", `--folds must be an integer from 2 to ${foldsMax}; got '${flags.folds}'`);
  const job = jobFrom(flags);
  const progress = Progress.onStandardError(flags, "active");
  const { crossValidate } = await import("../experiment/cross-validate.ts");
  const options = { ...job, check: flags.check === true, onEvent: (event: Parameters<Progress["handle"]>[0]) => progress.handle(event) };
  const result = await crossValidate(options, folds, (fold) => progress.line(`fold ${fold + 1} of ${folds}`));
  process.stdout.write(flags.json === true ? `${JSON.stringify(result)}\n` : `${readable(result)}\n`);
}

function readable({ folds, test }: CrossValidation): string {
  const names = Object.keys(test);
  const rows = folds.map((fold, i) => [`fold ${i + 1}`, ...names.map((name) => fold.test[name].toFixed(4))]);
  const last = (title: string, value: (name: string) => number): string[] => [title, ...names.map((name) => value(name).toFixed(4))];
  return ["", textTable([["", ...names], ...rows, last("mean", (name) => test[name].mean), last("deviation", (name) => test[name].deviation)]), ""].join("\n");
}
