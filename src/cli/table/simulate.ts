/** `tandem simulate`: trains on one table, divided by columns between companies. */
import { join } from "node:path";
import { Command } from "commander";
import type { FeatureImportance } from "../../api/model.ts";
import { TandemError } from "../../base/error.ts";
import type { DisclosureFacts } from "../../privacy/disclosures.ts";
import type { ContributionRow } from "../../simulate/comparison.ts";
import type { Emit } from "../../record/events.ts";
import type { Supervise } from "../../simulate/supervisor.ts";
import { outcomeOptions } from "../../simulate/table-options.ts";
import { exportWords } from "../../gbdt/tree/xgboost-agreement.ts";
import { addJobOptions, type JobFlags, jobFrom } from "./job-options.ts";
import {
  addDashboardOptions,
  addRecordsOption,
  besideDashboard,
  type DashboardFlags,
  keptJobName,
  recordsFolder,
  type RecordsFlags,
} from "../dashboard.ts";
import { addExamples } from "../terminal/help-text.ts";
import { addLeakageOptions, explainFirst, type LeakageFlags } from "../leakage.ts";
import { addProgressOptions, openProgress, type ProgressFlags } from "../terminal/progress-options.ts";
import { writeReport } from "../report.ts";
import { toSchemeFacts } from "../scheme-options.ts";
import { addTableOptions, readTableOptions } from "./table-flags.ts";
import {
  contributionTable,
  costTable,
  importanceTable,
  metricsTable,
  type JobSummary,
  summarise,
} from "../terminal/summary.ts";

interface SimulateFlags extends JobFlags, ProgressFlags, DashboardFlags, LeakageFlags, RecordsFlags {
  readonly predictions?: string;
  readonly export?: string;
}

/** @param supervise starts the parties; default: as processes */
export function simulateCommand(supervise?: Supervise): Command {
  const command = new Command("simulate").description(
    "divide one table by columns between companies, and train a federated model",
  );
  addTableOptions(addJobOptions(command), outcomeOptions);
  addLeakageOptions(addDashboardOptions(addRecordsOption(addProgressOptions(command)))).action((flags: SimulateFlags) =>
    runSimulate(flags, supervise),
  );
  return addExamples(
    command,
    "tandem simulate --data loans.csv --id id --label defaulted --active income,age --passive visits,basket --check",
  );
}

async function runSimulate(flags: SimulateFlags, supervise?: Supervise): Promise<void> {
  const job = jobFrom(flags);
  const { partiesOf } = await import("../../simulate/simulate-options.ts");
  const names = partiesOf(job).map(({ name }) => name);
  if (flags.predictions !== undefined && job.testFraction === 0 && job.testData === undefined)
    throw new TandemError(
      "USAGE",
      "--predictions writes the test rows, and --test-fraction 0 leaves none. Name a table with --test-data, such as " +
        "that of --data",
    );
  const progress = await openProgress(flags, names[0]);
  const { simulate } = await import("../../simulate/simulate.ts");
  const facts = async (): Promise<readonly DisclosureFacts[]> => {
    const { prepareSimulation } = await import("../../simulate/prepare-simulation.ts");
    const { simulationFacts } = await import("../../simulate/simulation-facts.ts");
    return simulationFacts(await prepareSimulation({ ...job, check: false, onEvent: () => {} }));
  };
  if (!(await explainFirst(flags, "this job", facts))) return;
  const folder = recordsFolder(flags);
  const keep = folder === null ? undefined : { directory: folder, job: keptJobName("simulate") };
  const viewers =
    keep === undefined ? [] : names.map((name) => ({ name, directory: join(keep.directory, name), job: keep.job }));
  await besideDashboard(flags, viewers, progress, async () => {
    const options = { ...job, ...readTableOptions(outcomeOptions, flags), keep };
    const onEvent: Emit = (event) => progress.handle(event);
    const { Model } = await import("../../api/model.ts");
    const result = await simulate({ ...options, onEvent }, supervise).finally(() => progress.close());
    const identical = result.difference === null ? null : result.difference === "";
    const summary = summarise(result, toSchemeFacts(result.job), identical);
    const { contribution } = result;
    const importance = new Model(result.model, result.parties).importance();
    const shown =
      flags.json === true
        ? JSON.stringify({
            ...summary,
            importance,
            ...(contribution && { contribution }),
            ...(keep && { job: keep.job }),
          })
        : readable(summary, result.difference, contribution, importance);
    process.stdout.write(`${shown}\n`);
    if (flags.predictions !== undefined) progress.line(`predictions: ${flags.predictions}`);
    if (flags.export !== undefined) progress.line(`model: ${flags.export} (${exportWords(result.model.objective)})`);
    if (keep !== undefined) {
      progress.line(`report: ${await writeReport(join(keep.directory, names[0], keep.job))}`);
      progress.line(`kept as ${keep.job}: --warm-start continues from it, with the same --records`);
    }
    if (identical === false)
      throw new TandemError("INTERNAL", `federated and centralised model differ: ${result.difference}`);
  });
}

function readable(
  summary: JobSummary,
  difference: string | null,
  contribution: readonly ContributionRow[] | null,
  importance: readonly FeatureImportance[],
): string {
  const checked =
    difference === null
      ? []
      : ["", `  federated equals centralised?  ${difference === "" ? "yes, bit for bit" : `NO: ${difference}`}`];
  return [
    "",
    metricsTable(summary.metrics),
    ...(contribution === null ? [] : ["", contributionTable(contribution)]),
    "",
    importanceTable(importance),
    ...checked,
    "",
    costTable(summary),
    "",
  ].join("\n");
}
