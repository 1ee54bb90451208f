/** `tandem report`: a job's record as one HTML file, its evaluation as JSON or CSV; the report at a job's end. */
import { join, resolve } from "node:path";
import { Command } from "commander";
import { TandemError } from "../base/error.ts";
import { writeFileAtomically } from "../base/files/atomic-file.ts";
import type { ModelEvaluation } from "../record/evaluation/evaluation.ts";
import { type EvaluationTerms, usualTerms } from "../record/evaluation/terms.ts";
import type { JobViews } from "../record/stored-record.ts";
import {
  addEvaluationOptions,
  type EvaluationFlags,
  evaluationJson,
  evaluationTerms,
  writeEvaluationCsv,
} from "./evaluation-options.ts";

const reportFileName = "report.html";

interface ReportFlags extends EvaluationFlags {
  readonly out?: string;
  readonly public?: boolean;
}

export function reportCommand(): Command {
  const command = new Command("report")
    .description("write a job's record as one HTML file without scripts")
    .argument("<job folder>", "the folder of a job, with its record")
    .option("--out <file>", `where to write it (default: ${reportFileName} in the job's folder)`)
    .option("--public", "leave out what only this party may see: its splits, its evaluation and its exposure");
  return addEvaluationOptions(command).action(run);
}

async function run(folder: string, flags: ReportFlags): Promise<void> {
  const terms = evaluationTerms(flags);
  const { json, csv, out } = flags;
  if ((json === true || csv !== undefined) && flags.public === true)
    throw new TandemError("USAGE", "--public leaves out the evaluation: it cannot be exported with --json or --csv");
  if (json === true || csv !== undefined) {
    const evaluation = evaluationIn(folder, await recordOf(folder));
    if (csv !== undefined)
      for (const path of await writeEvaluationCsv(csv, evaluation, terms)) process.stderr.write(`${path}\n`);
    if (json === true) return void process.stdout.write(`${JSON.stringify(evaluationJson(evaluation, terms))}\n`);
  }
  const path = await writeReport(folder, {
    ...(out === undefined ? {} : { out }),
    withOwn: flags.public !== true,
    terms,
  });
  process.stdout.write(`${path}\n`);
}

/** @throws TandemError USAGE where the job has none */
function evaluationIn(folder: string, { own, view }: JobViews): ModelEvaluation {
  if (own.evaluation !== null) return own.evaluation;
  const why =
    view.role === "passive"
      ? "it is the record of a passive party, which has no labels"
      : "the job is not finished, or was run by an earlier version: evaluate its model with 'tandem evaluate'";
  throw new TandemError("USAGE", `${folder} has no evaluation: ${why}`);
}

async function recordOf(folder: string): Promise<JobViews> {
  const { readRecord } = await import("../record/stored-record.ts");
  return readRecord(resolve(folder));
}

interface WrittenReport {
  readonly out?: string;
  readonly withOwn?: boolean;
  readonly terms?: EvaluationTerms;
}

/** @returns where it is. @throws TandemError FILE_UNREADABLE without a record, FILE_UNWRITABLE */
export async function writeReport(
  folder: string,
  { out, withOwn = true, terms = usualTerms }: WrittenReport = {},
): Promise<string> {
  const views = await recordOf(folder);
  const { jobReport } = await import("../../web/report/reports.js");
  const path = out === undefined ? join(resolve(folder), reportFileName) : resolve(out);
  await writeFileAtomically(path, jobReport(views, new Date(), { withOwn, terms }), 0o600);
  return path;
}
