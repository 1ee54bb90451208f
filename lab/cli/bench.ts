/** `tandem bench`: the speed figures, as interleaved ratios. */
import { Command, Option } from "commander";
import type { Figure } from "../bench/arithmetic.ts";
import { type BenchPart, benchParts } from "../bench/bench-parts.ts";
import type { BenchReport } from "../bench/bench.ts";
import { openProgress } from "../../src/cli/terminal/progress-options.ts";
import { textTable } from "../../src/cli/terminal/text-table.ts";
import { wholeNumber } from "../../src/cli/whole-number.ts";

interface BenchFlags {
  readonly only: BenchPart | "all";
  readonly data?: string;
  readonly seed: string;
  readonly repeats: string;
  readonly quick?: boolean;
  readonly json?: boolean;
}

const repeatsMax = 1000;
const seedMax = 4294967295;

export function benchCommand(): Command {
  return new Command("bench")
    .description("measure this machine against OpenSSL, and the scoring server under load")
    .addOption(new Option("--only <part>", "which figures").choices([...benchParts, "all"]).default("all"))
    .option("--data <folder>", "the folder with the public data (default: synthetic data of the same shape)")
    .option("--repeats <count>", "how often each is measured", "7")
    .option("--seed <number>", "draws the synthetic data", "7")
    .option("--quick", "a tenth of the rows and fewer trees: shows that it works, not how fast it is")
    .option("--json", "print the result as one line of JSON")
    .action(async (flags: BenchFlags) => {
      const repeats = wholeNumber("--repeats", flags.repeats, 1, repeatsMax);
      const seed = wholeNumber("--seed", flags.seed, 0, seedMax);
      const progress = await openProgress(flags);
      const { runBench } = await import("../bench/bench.ts");
      const report = await runBench({
        only: flags.only,
        data: flags.data ?? null,
        seed,
        repeats,
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
    ...report.leftOut.map((what) => `  not measured: ${what}`),
    `  ${cpu}, ${cores} cores, Node ${node}, ${kernel} kernel; data: ${report.data}; ` +
      `seed ${report.seed}, ${report.repeats} repeats, commit ${report.commit}`,
    "",
  ].join("\n");
}

function barText({ bar }: Figure): string {
  if (bar === undefined) return "";
  return "atLeast" in bar ? `>= ${bar.atLeast}` : `<= ${bar.atMost}`;
}
