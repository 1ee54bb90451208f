/** `tandem reproduce`: the paper's section IV on our system, compared with its numbers. */
import { Argument, Command } from "commander";
import { TandemError } from "../../src/base/error.ts";
import { type ExperimentName, experimentNames } from "../reproduce/experiment-names.ts";
import type { ResultTable } from "../reproduce/outcome.ts";
import type { Reproduction } from "../reproduce/reproduce.ts";
import type { ScaleName } from "../reproduce/scale.ts";
import { schemeOption } from "../../src/cli/scheme-options.ts";
import { addExamples } from "../../src/cli/terminal/help-text.ts";
import { ReproduceProgress } from "./reproduce-progress.ts";
import { textTable } from "../../src/cli/terminal/text-table.ts";
import { wholeNumber } from "../../src/cli/whole-number.ts";

interface ReproduceFlags {
  /** Accepted only to be refused with a reason. */
  readonly scheme: string;
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
  const command = new Command("reproduce")
    .description("run the paper's experiments, and compare the paper's numbers with ours")
    .addArgument(new Argument("<experiment>", "which one").choices([...experimentNames, "all"]))
    .addOption(schemeOption().hideHelp())
    .option("--data <folder>", "the folder with UCI_Credit_Card.csv and cs-training.csv, or both as .csv.gz")
    .option("--synthetic", "take synthetic data of the same shape instead")
    .option("--quick", "a tenth of the rows and fewer trees: minutes instead of two hours")
    .option("--smoke", "the smallest sizes that touch everything")
    .option("--out <folder>", "where everything is written; an interrupted reproduction resumes from there", "report")
    .option("--docs <folder>", "with all: write results.md there too, and figures in results/")
    .option(
      "--repeats <count>",
      "how often each job is trained; the smallest time counts (default: 2 up to 1024 bits, 1 beyond or with --quick)",
    )
    .option("--estimate", "say how long it would take, and run nothing")
    .option("--seed <number>", "draws the rows and the synthetic data", "7")
    .action(runReproduce);
  return addExamples(command, "tandem reproduce all --synthetic --quick", "tandem reproduce keys --data ~/data");
}

async function runReproduce(experiment: ExperimentName | "all", flags: ReproduceFlags): Promise<void> {
  if (flags.scheme !== "paillier") {
    throw new TandemError(
      "USAGE",
      "the paper's experiments are about Paillier: its keys, its batching, its overflows. " +
        "'tandem bench --only lattice' compares the other scheme",
    );
  }
  if (flags.data === undefined && flags.synthetic !== true) {
    throw new TandemError(
      "USAGE",
      "no data: name the folder of the public files with --data (see docs/data.md), or take --synthetic",
    );
  }
  if (flags.data !== undefined && flags.synthetic === true)
    throw new TandemError("USAGE", "--data and --synthetic exclude each other");
  if (flags.quick === true && flags.smoke === true)
    throw new TandemError("USAGE", "--quick and --smoke exclude each other");
  if (flags.docs !== undefined && experiment !== "all")
    throw new TandemError("USAGE", "--docs goes with 'all' only: the page shows every experiment");
  const scale: ScaleName = flags.quick === true ? "quick" : flags.smoke === true ? "smoke" : "full";
  const progress = new ReproduceProgress({
    terminal: process.stderr.isTTY === true,
    write: (text) => process.stderr.write(text),
  });
  const [{ planReproduction, reproduce }, { writeReport, writeResultsPage }] = await Promise.all([
    import("../reproduce/reproduce.ts"),
    import("../results/write-report.ts"),
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
