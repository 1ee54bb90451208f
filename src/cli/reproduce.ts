/** `tandem reproduce`: the paper's section IV on our system, its numbers beside ours. */
import { Argument, Command } from "commander";
import { TandemError } from "../base/error.ts";
import { type ExperimentName, experimentNames } from "../experiment/reproduce/experiment-names.ts";
import type { ResultTable } from "../experiment/reproduce/outcome.ts";
import type { Reproduction } from "../experiment/reproduce/reproduce.ts";
import type { ScaleName } from "../experiment/reproduce/scale.ts";
import { ReproduceProgress } from "./reproduce-progress.ts";
import { textTable } from "./text-table.ts";

interface ReproduceFlags {
  readonly data?: string;
  readonly synthetic?: boolean;
  readonly quick?: boolean;
  readonly smoke?: boolean;
  readonly out: string;
  readonly docs?: string;
  readonly repeats?: string;
  readonly estimate?: boolean;
  readonly seed: string;
}

export function reproduceCommand(): Command {
  return new Command("reproduce")
    .description("run the paper's experiments: tables, figures and an HTML report with the paper's numbers beside ours")
    .addArgument(new Argument("<experiment>", "which").choices([...experimentNames, "all"]))
    .option("--data <folder>", "folder with the public files UCI_Credit_Card.csv and cs-training.csv (also as .csv.gz)")
    .option("--synthetic", "made-up data of the same shape instead")
    .option("--quick", "a tenth of the rows, fewer trees: some minutes instead of some two hours")
    .option("--smoke", "the smallest run that touches everything")
    .option(
      "--out <folder>",
      "where tables, figures, report and finished runs go; a run that was interrupted continues",
      "report",
    )
    .option("--docs <folder>", "with all: also write results.md there, with figures in results/")
    .option(
      "--repeats <count>",
      "how often each job is run; the smallest time counts (default: 2 up to 1024 bits, 1 beyond; 1 with --quick)",
    )
    .option("--estimate", "say how long it would take, and run nothing")
    .option("--seed <number>", "of the rows drawn and of made-up data", "7")
    .action(runReproduce);
}

async function runReproduce(experiment: ExperimentName | "all", flags: ReproduceFlags): Promise<void> {
  if (flags.data === undefined && flags.synthetic !== true) {
    throw new TandemError(
      "USAGE",
      "name the folder with the public data with --data (docs/data.md says where to get the files), or take --synthetic",
    );
  }
  if (flags.data !== undefined && flags.synthetic === true)
    throw new TandemError("USAGE", "--data and --synthetic exclude each other");
  if (flags.quick === true && flags.smoke === true)
    throw new TandemError("USAGE", "--quick and --smoke exclude each other");
  if (flags.docs !== undefined && experiment !== "all")
    throw new TandemError("USAGE", "--docs goes with 'all': the page shows every experiment");
  const scale: ScaleName = flags.quick === true ? "quick" : flags.smoke === true ? "smoke" : "full";
  const progress = new ReproduceProgress({
    terminal: process.stderr.isTTY === true,
    write: (text) => process.stderr.write(text),
  });
  const [{ planReproduction, reproduce }, { writeReport, writeResultsPage }] = await Promise.all([
    import("../experiment/reproduce/reproduce.ts"),
    import("../experiment/results/write-report.ts"),
  ]);
  const options = {
    experiments: experiment === "all" ? experimentNames : [experiment],
    data: flags.data ?? null,
    scale,
    repeats: flags.repeats === undefined ? null : wholeNumber("--repeats", flags.repeats, 1, 100),
    out: flags.out,
    seed: wholeNumber("--seed", flags.seed, 0, 4294967295),
    progress,
    onPhase: (what: string) => progress.line(`${what} ...`),
  };
  if (flags.estimate === true) {
    progress.planned(await planReproduction(options));
    return;
  }
  const reproduction = await reproduce(options);
  const report = await writeReport(reproduction, flags.out, experiment === "all" ? "report" : experiment);
  const page = flags.docs === undefined ? [] : [await writeResultsPage(reproduction, flags.docs)];
  process.stdout.write(`${readable(reproduction)}\n  ${[report, ...page].join("\n  ")}\n`);
}

function wholeNumber(option: string, value: string, min: number, max: number): number {
  const number = Number(value);
  if (Number.isInteger(number) && number >= min && number <= max) return number;
  throw new TandemError("USAGE", `${option} must be an integer from ${min} to ${max}; got '${value}'`);
}

function readable({ experiments, claims }: Reproduction): string {
  const sections = experiments.flatMap(({ title, paragraph, tables }) => [
    `\n${title}\n\n${wrapped(paragraph)}`,
    ...tables.map(tableText),
  ]);
  const verdicts = claims.map(({ name, bar, seen, held }) => [
    name,
    held === null ? "not run" : held ? "held" : "NOT held",
    bar,
    seen,
  ]);
  return [...sections, "\nClaims\n", textTable([["claim", "verdict", "bar", "seen"], ...verdicts]), ""].join("\n");
}

/** Groups stand on a line of their own, over the first of their columns. */
function tableText({ title, columns, rows, notes }: ResultTable): string {
  const groups = columns.map(({ group }, i) => (i > 0 && columns[i - 1].group === group ? "" : group));
  const head = [...(groups.some((group) => group !== "") ? [groups] : []), columns.map((column) => column.title)];
  return [`\n  ${title}\n`, textTable([...head, ...rows]), ...notes.map((note) => `\n${wrapped(note)}`)].join("\n");
}

const lineWidth = 110;

function wrapped(text: string): string {
  const lines = [""];
  for (const word of text.split(" ")) {
    if (lines[lines.length - 1].length + word.length >= lineWidth) lines.push("");
    lines[lines.length - 1] += lines[lines.length - 1] === "" ? word : ` ${word}`;
  }
  return lines.map((line) => `  ${line}`).join("\n");
}
