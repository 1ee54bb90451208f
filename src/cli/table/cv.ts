/** `tandem cv`: k-fold cross-validation, of a simulation or between companies. */
import { Command } from "commander";
import { TandemError } from "../../base/error.ts";
import { formatMetric } from "../../base/text/format.ts";
import type { CrossValidation } from "../../simulate/cross-validate.ts";
import type { Supervise } from "../../simulate/supervisor.ts";
import type { Spread } from "../../gbdt/boost/fold-turns.ts";
import { besideTaskCrew } from "../../api/beside-crew.ts";
import { addCrewOption, type CrewFlags } from "../company/crew-option.ts";
import { addJobOptions, type JobFlags, jobFrom, refuseWithConfig } from "./job-options.ts";
import { addLeakageOptions, explainFirst, type LeakageFlags } from "../leakage.ts";
import type { Progress } from "../terminal/progress.ts";
import { addProgressOptions, openProgress, type ProgressFlags } from "../terminal/progress-options.ts";
import { addExamples } from "../terminal/help-text.ts";
import { textTable } from "../terminal/text-table.ts";
import { wholeNumber } from "../whole-number.ts";

interface CvFlags extends Partial<JobFlags>, ProgressFlags, LeakageFlags, CrewFlags {
  readonly config?: string;
  readonly folds: string;
  readonly check?: boolean;
}

const foldsMax = 100;

/** @param supervise starts the parties of a simulation; default: as processes */
export function cvCommand(supervise?: Supervise): Command {
  const command = new Command("cv").description(
    "cross-validate: every row is tested once, by a model that was not trained on it",
  );
  addCrewOption(addLeakageOptions(addProgressOptions(addJobOptions(command))))
    .option("-c, --config <file>", "between companies: the active party's config; all folds in one job")
    .option("--folds <count>", "number of folds", "5")
    .option("--check", "with --data: compare each fold with centralised training, node by node")
    .action((flags: CvFlags, own: Command) => runCv(flags, own, supervise));
  // Required only without --config.
  for (const option of command.options) option.makeOptionMandatory(false);
  // Accepted only to be refused with a reason.
  for (const option of command.options) if (option.long?.startsWith("--test-") === true) option.hideHelp();
  return addExamples(
    command,
    "tandem cv -c active.yaml --folds 5",
    "tandem cv --data loans.csv --label defaulted --active income,age --passive visits,basket",
  );
}

async function runCv(flags: CvFlags, command: Command, supervise?: Supervise): Promise<void> {
  const folds = wholeNumber("--folds", flags.folds, 2, foldsMax);
  await (flags.config === undefined
    ? simulated(flags, folds, supervise)
    : betweenCompanies(flags, flags.config, folds, command));
}

async function simulated(flags: CvFlags, folds: number, supervise?: Supervise): Promise<void> {
  if (!isJob(flags))
    throw new TandemError(
      "USAGE",
      "cv needs --config for a job between companies, or --data and --label for a simulation",
    );
  if (flags.testFraction !== undefined || flags.testData !== undefined)
    throw new TandemError("USAGE", "cv tests on its folds: leave out --test-fraction and --test-data");
  if (flags.explainLeakage === true || flags.dryRun === true)
    throw new TandemError(
      "USAGE",
      "--explain-leakage and --dry-run need --config. For a simulation use 'tandem simulate'",
    );
  const job = jobFrom(flags);
  const [{ crossValidate }, { partiesOf }] = await Promise.all([
    import("../../simulate/cross-validate.ts"),
    import("../../simulate/simulate-options.ts"),
  ]);
  const progress = await openProgress(flags, partiesOf(job)[0].name);
  const options = {
    ...job,
    check: flags.check === true,
    onEvent: (event: Parameters<Progress["handle"]>[0]) => progress.handle(event),
  };
  const onFold = (fold: number): void => progress.line(`fold ${fold + 1} of ${folds}`);
  const result = await crossValidate(options, folds, onFold, supervise);
  process.stdout.write(flags.json === true ? `${JSON.stringify(result)}\n` : `${readable(result)}\n`);
}

function isJob(flags: CvFlags): flags is CvFlags & JobFlags {
  return flags.data !== undefined && flags.label !== undefined;
}

async function betweenCompanies(flags: CvFlags, path: string, folds: number, command: Command): Promise<void> {
  refuseWithConfig(command, ["config", "folds", "json", "quiet", "explainLeakage", "dryRun", "embedded"]);
  const [{ readActiveConfig }, { newJobName }, { runCrossValidation }] = await Promise.all([
    import("../../party/config/config.ts"),
    import("../../party/active/checkpoints.ts"),
    import("../../party/active/cross-validation.ts"),
  ]);
  // A new name every time: it neither resumes a job nor blocks one.
  const read = await readActiveConfig(path, () => "cv");
  const config = { ...read, job: { ...read.job, name: newJobName(new Date()).replace("job", "cv") } };
  const facts = async () => {
    const [{ activeFacts }, { readActiveTables }] = await Promise.all([
      import("../../party/active/disclosure-facts.ts"),
      import("../../party/active/tables.ts"),
    ]);
    return activeFacts(config, await readActiveTables(config), folds);
  };
  if (!(await explainFirst(flags, `job ${config.job.name}, a cross-validation of ${folds} folds,`, facts))) return;
  const progress = await openProgress(flags, config.name);
  const onRound = (round: number, { test }: { readonly test: Readonly<Record<string, Spread>> }): void => {
    const spreads = Object.entries(test).map(
      ([name, { mean, deviation }]) => `${name} ${formatMetric(mean)} (std ${formatMetric(deviation)})`,
    );
    progress.line(`round ${round + 1}/${config.job.training.num_round}  held out ${spreads.join(", ")}`);
  };
  const tell = progress.handle.bind(progress);
  const result = await besideTaskCrew(config, flags, tell, (world) =>
    runCrossValidation(config, { folds, onRound }, tell, world),
  ).finally(() => progress.close());
  const test = result.history[result.bestRound].test;
  if (flags.json === true) process.stdout.write(`${JSON.stringify({ ...result, test })}\n`);
  else
    process.stdout.write(
      `${readable({ folds: result.folds, test })}\n` +
        `  after round ${result.bestRound + 1} of ${result.rounds}; every round: ${result.path}\n`,
    );
}

function readable({
  folds,
  test,
}: Pick<CrossValidation, "test"> & {
  readonly folds: readonly Pick<CrossValidation["folds"][number], "test">[];
}): string {
  const names = Object.keys(test);
  const rows = folds.map((fold, i) => [`fold ${i + 1}`, ...names.map((name) => formatMetric(fold.test[name]))]);
  const last = (title: string, value: (name: string) => number): string[] => [
    title,
    ...names.map((name) => formatMetric(value(name))),
  ];
  return [
    "",
    textTable([
      ["", ...names],
      ...rows,
      last("mean", (name) => test[name].mean),
      last("std", (name) => test[name].deviation),
    ]),
    "",
  ].join("\n");
}
