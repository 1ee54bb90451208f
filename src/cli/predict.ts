/** `tandem predict`: scores of a file of people, with all parties of a model that was trained before. */
import { Command, Option } from "commander";
import type { PredictResult, UnknownRule } from "../scoring/run-predict.ts";
import { Progress } from "./terminal/progress.ts";

interface PredictFlags {
  readonly config: string;
  readonly model: string;
  readonly input: string;
  readonly output: string;
  readonly unknown: UnknownRule;
  readonly json?: boolean;
}

export function predictCommand(): Command {
  return new Command("predict")
    .description("score a file of people with a trained model")
    .requiredOption("-c, --config <file>", "the active party's config")
    .requiredOption("--model <job>", "the job that trained it, or a folder with its share.json")
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
    .option("--json", "print the result as one line of JSON")
    .action(async (flags: PredictFlags) => {
      const [{ readActiveConfig }, { runPredict }] = await Promise.all([
        import("../party/config.ts"),
        import("../scoring/run-predict.ts"),
      ]);
      const config = await readActiveConfig(flags.config, () => "predict");
      const progress = Progress.onStandardError(flags);
      const { model, input, output, unknown } = flags;
      const onProgress = (done: number, total: number): void =>
        progress.line(
          `${config.name}: asked about ${done.toLocaleString("en")} of ${total.toLocaleString("en")} people`,
        );
      const result = await runPredict(config, { model, input, output, unknown, onProgress });
      process.stdout.write(flags.json === true ? `${JSON.stringify(result)}\n` : `${readable(result, output)}\n`);
    });
}

function readable({ job, model, rows, scored, unknown }: PredictResult, output: string): string {
  const strangers = Object.entries(unknown).map(
    ([name, count]) => `\n  ${count.toLocaleString("en")} people are unknown to ${name}`,
  );
  const people = `${scored.toLocaleString("en")} of ${rows.toLocaleString("en")} people`;
  const title = `${people} scored with the model of job ${job} (${model.slice(0, 12)})`;
  return `\n  ${title}${strangers.join("")}\n  scores: ${output}`;
}
