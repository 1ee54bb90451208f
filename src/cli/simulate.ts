/** `tandem simulate`: one CSV file, cut by columns into companies. */
import { Command } from "commander";
import { TandemError } from "../base/error.ts";
import { addJobOptions, type JobFlags, jobFrom } from "./job-options.ts";
import { Progress } from "./progress.ts";
import { costTable, metricsTable, type RunSummary, summarise } from "./summary.ts";

interface SimulateFlags extends JobFlags {
  readonly predictions?: string;
  readonly export?: string;
  readonly check?: boolean;
  readonly json?: boolean;
}

export function simulateCommand(): Command {
  const command = new Command("simulate").description("cut one CSV file by columns into companies and train between them: real processes, real TLS");
  return addJobOptions(command)
    .option("--predictions <file>", "write id, label and prediction of the test rows")
    .option("--export <file>", "write the model in XGBoost's JSON format, for XGBoost 1.7 or later")
    .option("--check", "compare with centralised training, node by node")
    .option("--json", "print the result as one JSON object on one line")
    .action(runSimulate);
}

async function runSimulate(flags: SimulateFlags): Promise<void> {
  const job = jobFrom(flags);
  const progress = Progress.onStandardError(flags.json === true && process.stderr.isTTY !== true);
  const { simulate } = await import("../experiment/simulate.ts");
  const result = await simulate({
    ...job,
    predictions: flags.predictions,
    export: flags.export,
    check: flags.check === true,
    onEvent: (event) => progress.handle(event, "active"),
  });
  const identical = result.difference === null ? null : result.difference === "";
  const summary = summarise(result, job.keyBits, identical);
  process.stdout.write(flags.json === true ? `${JSON.stringify(summary)}\n` : `${readable(summary, result.difference)}\n`);
  if (identical === false) throw new TandemError("INTERNAL", `federated and centralised model differ: ${result.difference}`);
}

function readable(summary: RunSummary, difference: string | null): string {
  const checked = difference === null ? [] : ["", `  federated equals centralised?  ${difference === "" ? "yes, bit for bit" : `NO: ${difference}`}`];
  return ["", metricsTable(summary.metrics), ...checked, "", costTable(summary), ""].join("\n");
}
