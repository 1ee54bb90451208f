/** `tandem bench`: the speed figures, as ratios in one interleaved run. */
import { Command, Option } from "commander";
import type { Figure } from "../experiment/bench/arithmetic.ts";
import type { BenchPart, BenchReport } from "../experiment/bench/bench.ts";
import { Progress } from "./progress.ts";
import { textTable } from "./text-table.ts";
import { wholeNumber } from "./whole-number.ts";

interface BenchFlags {
  readonly only: BenchPart | "all";
  readonly data?: string;
  readonly seed: string;
  readonly rounds: string;
  readonly quick?: boolean;
  readonly json?: boolean;
}

const roundsMax = 1000;
const seedMax = 4294967295;

export function benchCommand(): Command {
  return new Command("bench")
    .description(
      "measure this machine: ratios within one interleaved run, and milliseconds for the load test of serving",
    )
    .addOption(
      new Option("--only <part>", "which figures")
        .choices(["arithmetic", "training", "ablation", "serving", "all"])
        .default("all"),
    )
    .option("--data <folder>", "the folder with the public data (default: made-up data of the same shape)")
    .option("--rounds <count>", "repetitions of each measurement", "7")
    .option("--seed <number>", "draws the made-up data", "7")
    .option("--quick", "a tenth of the rows and fewer trees: shows that it works, not how fast it is")
    .option("--json", "print the result as one line of JSON")
    .action(async (flags: BenchFlags) => {
      const rounds = wholeNumber("--rounds", flags.rounds, 1, roundsMax);
      const seed = wholeNumber("--seed", flags.seed, 0, seedMax);
      const progress = Progress.onStandardError(flags);
      const { runBench } = await import("../experiment/bench/bench.ts");
      const report = await runBench({
        only: flags.only,
        data: flags.data ?? null,
        seed,
        rounds,
        quick: flags.quick === true,
        onFigure: (figure) => progress.line(`  ${figure.name}  ${figure.value.toPrecision(3)}`),
        onProgress: (what) => progress.line(`${what} ...`),
      });
      process.stdout.write(flags.json === true ? `${JSON.stringify(report)}\n` : `${readable(report)}\n`);
    });
}

function readable(report: BenchReport): string {
  const rows = Object.values(report.figures).map((figure) => [
    figure.name,
    figure.value.toPrecision(3),
    barText(figure),
    figure.met === null ? "" : figure.met ? "met" : "MISSED",
  ]);
  const { cpu, cores, node, kernel } = report.machine;
  return [
    "",
    textTable([["figure", "value", "bar", ""], ...rows]),
    "",
    `  ${cpu}, ${cores} cores, Node ${node}, ${kernel} kernel; data: ${report.data}; ` +
      `seed ${report.seed}, ${report.rounds} rounds, commit ${report.commit}`,
    "",
  ].join("\n");
}

function barText({ bar }: Figure): string {
  if (bar === undefined) return "";
  return "atLeast" in bar ? `>= ${bar.atLeast}` : `<= ${bar.atMost}`;
}
