/** `tandem audit`: measures by attacks what the parties of a job could infer about each other. */
import { Command } from "commander";
import { TandemError } from "../../base/error.ts";
import { formatCount, formatSeconds } from "../../base/text/format.ts";
import type { AuditResult } from "../../privacy/attack/audit-result.ts";
import { addJobOptions, type JobFlags, jobFrom } from "./job-options.ts";
import { openProgress } from "../terminal/progress-options.ts";
import { auditText } from "../terminal/audit-text.ts";
import { addExamples } from "../terminal/help-text.ts";
import { wholeNumber } from "../whole-number.ts";

interface AuditFlags extends JobFlags {
  readonly job?: string;
  readonly seconds: string;
  readonly whatIf?: boolean;
  readonly maxCertain?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

const secondsMax = 24 * 3600;

export function auditCommand(): Command {
  const command = new Command("audit").description(
    "measure what companies could infer about each other: train a job on one table, and run attacks on it",
  );
  addJobOptions(command, false)
    .option("--job <folder>", "instead of a table: the folder of a job of this party that kept its transcript")
    .option("--seconds <count>", "time limit of the attacks on sums", "60")
    .option("--what-if", "train again with each defence, and compare exposure and metrics")
    .option("--max-certain <share>", "fail if a larger share of a party's cells is proven, from 0 to 1")
    .option("--json", "print the result as one line of JSON")
    .option("--quiet", "print only the result")
    .action(runAudit);
  return addExamples(
    command,
    "tandem audit --data loans.csv --label defaulted --active income,age --passive visits,basket --what-if",
    "tandem audit --job jobs/spring-model",
  );
}

async function runAudit(flags: AuditFlags): Promise<void> {
  const seconds = wholeNumber("--seconds", flags.seconds, 1, secondsMax);
  const limit = shareFrom(flags.maxCertain);
  const report = progressTo(process.stderr, flags.quiet === true);
  const result = await (flags.job === undefined ? ofTable(flags, seconds, report) : ofJob(flags, seconds, report));
  report("", 1, 0);
  process.stdout.write(flags.json === true ? `${JSON.stringify(result)}\n` : `${auditText(result)}\n`);
  refuse(result, limit);
}

type ReportProgress = (step: string, share: number, secondsLeft: number) => void;

/** @throws TandemError USAGE */
async function ofTable(flags: AuditFlags, seconds: number, onProgress: ReportProgress): Promise<AuditResult> {
  for (const name of ["data", "label"] as const)
    if (flags[name] === undefined)
      throw new TandemError("USAGE", `--${name} is missing: name a table with its label, or the folder of a --job`);
  const { auditSimulation } = await import("../../simulate/audit/audit.ts");
  const { partiesOf } = await import("../../simulate/simulate-options.ts");
  const job = jobFrom(flags);
  const quiet = flags.quiet === true || flags.json === true;
  const progress = await openProgress({ quiet }, partiesOf(job)[0].name);
  return auditSimulation(
    { ...job, check: false, onEvent: (event) => progress.handle(event) },
    { seconds, whatIf: flags.whatIf === true, onProgress },
  );
}

/** @throws TandemError USAGE */
async function ofJob(flags: AuditFlags, seconds: number, onProgress: ReportProgress): Promise<AuditResult> {
  const { job: folder = "", whatIf, data } = flags;
  if (data !== undefined) throw new TandemError("USAGE", "--job and --data exclude each other");
  if (whatIf === true)
    throw new TandemError("USAGE", "--what-if trains again, which needs all columns: name a table with --data");
  const { auditJob } = await import("../../simulate/audit/audit-job.ts");
  const began = performance.now();
  const left = (): number => Math.max(0, 1000 * seconds - (performance.now() - began));
  const progress = (share: number): void => onProgress("attacks", share, left() / 1000);
  const { result } = await auditJob(folder, { left, progress });
  return result;
}

/** One line that is redrawn on a terminal; elsewhere a line per step. */
function progressTo({ isTTY, write }: NodeJS.WriteStream, isQuiet: boolean): ReportProgress {
  const out = write.bind(process.stderr);
  let last = "";
  return (step, share, secondsLeft) => {
    if (isQuiet) return;
    const text = step === "" ? "" : `${step}, ${Math.round(100 * share)} %, at most ${formatSeconds(secondsLeft)} left`;
    if (isTTY) out(`\r\u001b[2K${text}`);
    else if (step !== "" && step !== last) out(`${text}\n`);
    last = step;
  };
}

/** @throws TandemError USAGE */
function shareFrom(text: string | undefined): number | null {
  if (text === undefined) return null;
  const share = Number(text);
  if (text.trim() !== "" && share >= 0 && share <= 1) return share;
  throw new TandemError("USAGE", `--max-certain takes a share from 0 to 1; got '${text}'`);
}

/** @throws TandemError EXPOSURE */
function refuse({ parties }: AuditResult, limit: number | null): void {
  const worst = parties.find(({ certain }) => limit !== null && certain.sums > limit);
  if (worst === undefined || limit === null) return;
  const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
  throw new TandemError(
    "EXPOSURE",
    `${percent(worst.certain.sums)} of the cells of ${worst.party} (${formatCount(worst.people)} people) are proven ` +
      `from training alone, more than --max-certain ${percent(limit)}. --what-if shows which defences lower it`,
  );
}
