/** `tandem evaluate`: how good a trained model is on rows whose labels came later. */
import { resolve } from "node:path";
import { Command, Option } from "commander";
import { writeFileAtomically } from "../../base/files/atomic-file.ts";
import type { EvaluateResult, EvaluateOptions } from "../../scoring/run-evaluate.ts";
import {
  addEvaluationOptions,
  type EvaluationFlags,
  evaluationJson,
  evaluationTerms,
  writeEvaluationCsv,
} from "../evaluation-options.ts";
import { evaluationText } from "../terminal/evaluation-text.ts";
import { addExamples } from "../terminal/help-text.ts";
import { openProgress } from "../terminal/progress-options.ts";
import type { EvaluationTerms } from "../../record/evaluation/terms.ts";
import type { ActiveConfig } from "../../party/config/config.ts";

interface EvaluateFlags extends EvaluationFlags {
  readonly config: string;
  readonly model: string;
  readonly input: string;
  readonly unknown: EvaluateOptions["unknown"];
  readonly out?: string;
}

export function evaluateCommand(): Command {
  const command = new Command("evaluate")
    .description("evaluate a trained model on a file of people with labels")
    .requiredOption("-c, --config <file>", "the active party's config")
    .requiredOption(
      "--model <job>",
      "the job that trained it, a model of the registry (credit@champion), or a folder with its share.json",
    )
    .requiredOption("--input <file>", "ids, labels and this party's own features")
    .addOption(
      new Option(
        "--unknown <rule>",
        "people whom a passive party does not know: refuse all, skip them, or take them as missing there",
      )
        .choices(["refuse", "skip", "missing"])
        .default("refuse"),
    )
    .option("--out <file>", "write a report as one HTML file");
  addEvaluationOptions(command).action(run);
  return addExamples(command, "tandem evaluate -c active.yaml --model spring --input autumn.csv --out autumn.html");
}

async function run({ config: path, out, csv, json, ...flags }: EvaluateFlags): Promise<void> {
  const terms = evaluationTerms(flags);
  const [{ readActiveConfig }, { runEvaluate }] = await Promise.all([
    import("../../party/config/config.ts"),
    import("../../scoring/run-evaluate.ts"),
  ]);
  const config = await readActiveConfig(path, () => "evaluate");
  const progress = await openProgress(json === true ? { json } : {});
  const onProgress = (done: number, total: number): void =>
    progress.line(`${config.name}: asked about ${done.toLocaleString("en")} of ${total.toLocaleString("en")} people`);
  const { model, input, unknown } = flags;
  const result = await runEvaluate(config, { model, input, unknown, onProgress });
  const written: string[] = [];
  if (out !== undefined) written.push(await writeReport(resolve(out), config, result, terms));
  if (csv !== undefined) written.push(...(await writeEvaluationCsv(csv, result.evaluation, terms)));
  const { evaluation, ...facts } = result;
  process.stdout.write(
    json === true
      ? `${JSON.stringify({ ...facts, ...evaluationJson(evaluation, terms) })}\n`
      : `${readable(result, terms, written)}\n`,
  );
}

async function writeReport(
  path: string,
  { name }: ActiveConfig,
  { evaluation, job, others }: EvaluateResult,
  terms: EvaluationTerms,
): Promise<string> {
  const { evaluationReport } = await import("../../../web/report/reports.js");
  const report = { evaluation, party: name, job, others: others.join(" and "), terms };
  await writeFileAtomically(path, evaluationReport(report, new Date()), 0o600);
  return path;
}

function readable(result: EvaluateResult, terms: EvaluationTerms, written: readonly string[]): string {
  const { job, model, rows, evaluated, unknown, evaluation, others } = result;
  return [
    "",
    `  ${evaluated.toLocaleString("en")} of ${rows.toLocaleString("en")} people evaluated with the model of job ` +
      `${job} (${model.slice(0, 12)})`,
    ...Object.entries(unknown).map(([name, count]) => `  ${count.toLocaleString("en")} people are unknown to ${name}`),
    "",
    evaluationText(evaluation, terms, others.join(" and ")),
    ...written.map((path) => `  wrote ${path}`),
  ].join("\n");
}
