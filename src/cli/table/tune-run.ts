/** Runs `tandem tune`; loaded on demand. */
import { access, constants, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Command } from "commander";
import { parse } from "yaml";
import { TandemError } from "../../base/error.ts";
import { writeFileAtomically } from "../../base/files/atomic-file.ts";
import type { TrainingParameters } from "../../gbdt/parameters/training-parameters.ts";
import { tuneInOnePlace } from "../../simulate/tune.ts";
import { spaceFrom, spaceFromText } from "../../gbdt/tune/parse-space.ts";
import { searchSchedule } from "../../gbdt/tune/schedule.ts";
import { defaultSpace, drawTrials } from "../../gbdt/tune/search-space.ts";
import type { TrialTurns } from "../../gbdt/tune/trial-turns.ts";
import { newJobName } from "../../party/active/checkpoints.ts";
import { activeFacts } from "../../party/active/disclosure-facts.ts";
import { readActiveTables } from "../../party/active/tables.ts";
import { tunePrice } from "../../party/active/tune-price.ts";
import { runTuning, type Search, type TuningResult, wholeSearch } from "../../party/active/tuning.ts";
import { readActiveConfig } from "../../party/config/config.ts";
import { tuneReport } from "../../../web/report/reports.js";
import { besideTaskCrew } from "../../api/beside-crew.ts";
import { type JobFlags, jobFrom, refuseWithConfig } from "./job-options.ts";
import { explainFirst } from "../leakage.ts";
import { confirm } from "../terminal/confirm.ts";
import type { Progress } from "../terminal/progress.ts";
import { openProgress } from "../terminal/progress-options.ts";
import { priceText, trialLines, type TunePrice, tuneText } from "../terminal/tune-text.ts";
import type { TuneFlags } from "./tune.ts";
import { wholeNumber } from "../whole-number.ts";

const trialsMax = 1000;
const foldsMax = 100;
/** Options that can be combined with --config; the others describe a table. */
const withConfig = "config trials folds method search space report yes json quiet explainLeakage dryRun embedded".split(
  " ",
);

/** @throws TandemError USAGE */
async function searchFrom(flags: TuneFlags, training: TrainingParameters): Promise<Search> {
  if (flags.search !== undefined && flags.space !== undefined)
    throw new TandemError("USAGE", "--search and --space exclude each other");
  if (flags.report !== undefined) await requireFolder(flags.report);
  const folds = wholeNumber("--folds", flags.folds, 2, foldsMax);
  const count = wholeNumber("--trials", flags.trials, 2, trialsMax);
  const space =
    flags.search !== undefined
      ? spaceFromText(flags.search)
      : flags.space !== undefined
        ? spaceFrom(await parsedFile(flags.space))
        : defaultSpace(training);
  const trials = drawTrials(training, space, count);
  return { trials, space, folds, schedule: searchSchedule(flags.method, count, training.num_round) };
}

/** Checked before the search, which may take hours. */
async function requireFolder(path: string): Promise<void> {
  try {
    await access(dirname(path), constants.W_OK);
  } catch (cause) {
    throw new TandemError("FILE_UNWRITABLE", `${path} cannot be written: its folder is missing or not writable`, {
      cause,
    });
  }
}

async function parsedFile(path: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    throw new TandemError("FILE_UNREADABLE", `${path}: the search space cannot be read`, { cause });
  }
  try {
    return parse(text) as unknown;
  } catch (cause) {
    throw new TandemError("FILE_FORMAT", `${path}: the search space is neither YAML nor JSON`, { cause });
  }
}

export async function onOneTable(flags: TuneFlags): Promise<void> {
  if (flags.data === undefined || flags.label === undefined)
    throw new TandemError(
      "USAGE",
      "tune needs --config for a job between companies, or --data and --label for a table",
    );
  for (const name of ["testFraction", "testData", "validationFraction", "validationData"] as const)
    if (flags[name] !== undefined)
      throw new TandemError("USAGE", "tune tests on its folds: leave test and validation rows out");
  if (flags.explainLeakage === true || flags.dryRun === true)
    throw new TandemError("USAGE", "--explain-leakage and --dry-run need --config: on one table nothing is revealed");
  const progress = await openProgress(flags, "active");
  const options = { ...jobFrom(flags as TuneFlags & JobFlags), check: false, onEvent: () => {} };
  let say: (turns: TrialTurns) => void = () => {};
  const searchOf = async (training: TrainingParameters): Promise<Search> => {
    const search = await searchFrom(flags, training);
    say = trialLines((line) => progress.line(line), search.schedule.length);
    return search;
  };
  const result = await tuneInOnePlace(options, searchOf, (turns) => say(turns)).finally(() => progress.close());
  await printResult(
    flags,
    { job: "tuning", ...result },
    "with all columns in one place",
    flags.report ?? "tuning.html",
    progress,
  );
}

export async function betweenCompanies(flags: TuneFlags, path: string, command: Command): Promise<void> {
  refuseWithConfig(command, withConfig);
  // A new name every time: it neither resumes a job nor blocks one.
  const read = await readActiveConfig(path, () => "tune");
  const config = { ...read, job: { ...read.job, name: newJobName(new Date()).replace("job", "tune") } };
  const { job } = config;
  const search = await searchFrom(flags, job.training);
  const facts = async () => {
    const whole = wholeSearch(search);
    const training = { ...whole, num_round: whole.num_round / search.folds };
    return activeFacts({ ...config, job: { ...job, training } }, await readActiveTables(config), search.folds);
  };
  const what = `job ${job.name}, a search of ${search.trials.length} trials of ${search.folds} folds,`;
  const progress = await openProgress(flags, config.name);
  const price = tunePrice(config, search);
  // Printed even with --quiet, since the disclosures concern the other parties too.
  process.stderr.write(`${priceText(price)}\n`);
  if (!(await explainFirst(flags, what, facts))) return;
  await askFirst(flags);
  const onTurn = trialLines((line) => progress.line(line), search.schedule.length);
  const handle = progress.handle.bind(progress);
  const result = await besideTaskCrew(config, flags, handle, (world) =>
    runTuning(config, { ...search, onTurn }, handle, world),
  ).finally(() => progress.close());
  const folder = join(config.output.directory, job.name);
  const where = `between ${[config.name, ...config.passives.map(({ name }) => name)].join(", ")} in one job`;
  await printResult(flags, result, where, flags.report ?? join(folder, "tuning.html"), progress, price);
}

/** @throws TandemError USAGE unless confirmed */
async function askFirst({ yes }: TuneFlags): Promise<void> {
  if (yes === true) return;
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new TandemError(
      "USAGE",
      "nothing was started: there is no terminal to ask for confirmation. Pass --yes to accept this cost",
    );
  if (await confirm("Start? Type yes:", { input: process.stdin, output: process.stderr })) return;
  throw new TandemError("USAGE", "nothing was started: the answer was not yes");
}

async function printResult(
  flags: TuneFlags,
  result: TuningResult,
  where: string,
  path: string,
  progress: Progress,
  price?: TunePrice,
): Promise<void> {
  await writeFileAtomically(path, tuneReport({ ...result, where }, new Date()), 0o600);
  process.stdout.write(
    flags.json === true ? `${JSON.stringify({ ...result, price, report: path })}\n` : tuneText(result),
  );
  progress.line(`report: ${path}`);
}
