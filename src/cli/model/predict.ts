/** `tandem predict`: scores the instances of a file together with all parties of a trained model. */
import { Command, Option } from "commander";
import { TandemError } from "../../base/error.ts";
import { allIterations, iterationRangeFrom } from "../../gbdt/tree/iterations.ts";
import type { PredictResult, UnknownRule } from "../../scoring/run-predict.ts";
import type { Wanted } from "../../scoring/wanted.ts";
import { contributionBars, type ContributionSummary, contributionWords } from "../../record/contribution-facts.ts";
import { driftRows, type DriftSummary, driftWords } from "../../record/drift-facts.ts";
import { openProgress } from "../terminal/progress-options.ts";

interface PredictFlags {
  readonly config: string;
  readonly model: string;
  readonly input: string;
  readonly output: string;
  readonly unknown: UnknownRule;
  readonly outputMargin?: boolean;
  readonly predLeaf?: boolean;
  readonly contributions?: boolean;
  readonly partyContributions?: boolean;
  readonly ownContributions?: boolean;
  readonly iterationRange?: string;
  readonly json?: boolean;
}

export function predictCommand(): Command {
  return new Command("predict")
    .description("score a file of people with a trained model")
    .requiredOption("-c, --config <file>", "the active party's config")
    .requiredOption(
      "--model <job>",
      "the job that trained it, a model of the registry (credit@champion), or a folder with its share.json",
    )
    .requiredOption("--input <file>", "ids and this party's own features: .csv, .csv.gz or .parquet")
    .requiredOption("--output <file>", "where to write ids and predictions, as CSV")
    .addOption(
      new Option(
        "--unknown <rule>",
        "people whom a passive party does not know: refuse all, skip them, or score them as if missing there",
      )
        .choices(["refuse", "skip", "missing"])
        .default("refuse"),
    )
    .option("--output-margin", "margins instead of predictions: before the objective's transformation")
    .option("--pred-leaf", "node id of the leaf in each tree instead of a prediction")
    .option("--contributions", "SHAP values: of each own feature, a total per passive party, and the bias")
    .option("--party-contributions", "the same with each passive party as one feature; no consent needed")
    .option(
      "--own-contributions",
      "the same with all other parties as one, from the score alone; also with masked scoring",
    )
    .option("--iteration-range <a:b>", "use rounds a to b - 1 only; a:0: from a to the last")
    .option("--json", "print the result as one line of JSON")
    .action(async (flags: PredictFlags) => {
      const wanted = wantedBy(flags);
      const [{ readActiveConfig }, { runPredict }] = await Promise.all([
        import("../../party/config/config.ts"),
        import("../../scoring/run-predict.ts"),
      ]);
      const config = await readActiveConfig(flags.config, () => "predict");
      const progress = await openProgress(flags);
      const { model, input, output, unknown } = flags;
      const onProgress = (done: number, total: number): void =>
        progress.line(
          `${config.name}: asked about ${done.toLocaleString("en")} of ${total.toLocaleString("en")} people`,
        );
      const result = await runPredict(config, { model, input, output, unknown, wanted, onProgress });
      process.stdout.write(flags.json === true ? `${JSON.stringify(result)}\n` : `${readable(result, output)}\n`);
    });
}

/** @throws TandemError USAGE */
function wantedBy(flags: PredictFlags): Wanted {
  const { outputMargin, predLeaf, contributions, partyContributions, ownContributions, iterationRange } = flags;
  const asked = [
    { flag: "--output-margin", isAsked: outputMargin, kind: "margin" },
    { flag: "--pred-leaf", isAsked: predLeaf, kind: "leaf" },
    { flag: "--contributions", isAsked: contributions, kind: "contributions" },
    { flag: "--party-contributions", isAsked: partyContributions, kind: "party_contributions" },
    { flag: "--own-contributions", isAsked: ownContributions, kind: "own_contributions" },
  ] as const;
  const [first, second] = asked.filter(({ isAsked }) => isAsked === true);
  if (second !== undefined) throw new TandemError("USAGE", `${first.flag} and ${second.flag} exclude each other`);
  return {
    kind: first?.kind ?? "prediction",
    iterations: iterationRange === undefined ? allIterations : iterationRangeFrom(iterationRange),
  };
}

function readable(result: PredictResult, output: string): string {
  const { job, model, rows, scored, unknown, contributions, drift } = result;
  const unknownLines = Object.entries(unknown).map(
    ([name, count]) => `\n  ${count.toLocaleString("en")} people are unknown to ${name}`,
  );
  const people = `${scored.toLocaleString("en")} of ${rows.toLocaleString("en")} people`;
  const title = `${people} scored with the model of job ${job} (${model.slice(0, 12)})`;
  const moved = contributions === undefined ? "" : `\n\n${contributionLines(contributions)}\n`;
  const what = contributions === undefined ? "scores" : "contributions";
  const away = drift === undefined ? "" : `\n\n${driftLines(drift)}\n`;
  return `\n  ${title}${unknownLines.join("")}${moved}${away}\n  ${what}: ${output}`;
}

/** What has moved, or the one that moved most. */
function driftLines(summary: DriftSummary): string {
  const rows = driftRows(summary);
  const away = rows.filter(({ level }) => level !== "stable");
  const shown = (away.length === 0 ? rows.slice(0, 1) : away).slice(0, meansPrinted);
  const wide = Math.max(...shown.map(({ name }) => name.length));
  const lines = shown.map(({ name, index, level }) => `    ${name.padEnd(wide)}  ${index.toFixed(3)}  ${level}`);
  const head = `  ${driftWords(summary)} ${away.length} of ${rows.length} have moved:`;
  return [away.length === 0 ? `  ${driftWords(summary)} Nothing has moved; the largest:` : head, ...lines].join("\n");
}

const meansPrinted = 10;

/** By decreasing contribution. */
function contributionLines(summary: ContributionSummary): string {
  const bars = contributionBars(summary);
  const shown = bars.slice(0, meansPrinted);
  const wide = Math.max(...shown.map(({ name }) => name.length));
  const lines = shown.map(({ name, words }) => `    ${name.padEnd(wide)}  ${words}`);
  const more = bars.length > shown.length ? [`    and ${bars.length - shown.length} more`] : [];
  return [`  ${contributionWords(summary)}`, ...lines, ...more].join("\n");
}
