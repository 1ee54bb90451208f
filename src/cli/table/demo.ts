/** `tandem demo`: three companies on this machine train one model, compared with the bank alone. */
import { join } from "node:path";
import { Command } from "commander";
import { TandemError } from "../../base/error.ts";
import type { Emit } from "../../record/events.ts";
import type { DemoResult } from "../../simulate/demo.ts";
import type { Supervise } from "../../simulate/supervisor.ts";
import {
  addDashboardOptions,
  addRecordsOption,
  besideDashboard,
  type DashboardFlags,
  keptJobName,
  recordsFolder,
  type RecordsFlags,
} from "../dashboard.ts";
import { addProgressOptions, openProgress, type ProgressFlags } from "../terminal/progress-options.ts";
import { writeReport } from "../report.ts";
import { toSchemeFacts, schemeOption } from "../scheme-options.ts";
import { wholeNumber } from "../whole-number.ts";
import { costTable, type JobSummary, summarise } from "../terminal/summary.ts";
import { textTable } from "../terminal/text-table.ts";

/** The portable kernel is about ten times slower: a smaller job ends within a minute too. */
const sizes = { native: { rows: 10_000, trees: 10 }, portable: { rows: 1_000, trees: 3 } };

interface DemoFlags extends ProgressFlags, DashboardFlags, RecordsFlags {
  readonly rows?: string;
  readonly numRound?: string;
  readonly scheme: string;
  readonly seed: string;
}

/** @param supervise starts the parties; default: as processes */
export function demoCommand(supervise?: Supervise): Command {
  const command = new Command("demo")
    .description("train one model between a bank, a retailer and a telecom on this machine")
    .option("--rows <count>", "people in the synthetic data (default: 10000, or 1000 without the native kernel)")
    .option("--num-round <trees>", "trees (default: 10, or 3 without the native kernel)")
    .addOption(schemeOption())
    .option("--seed <number>", "fixes everything but the cryptographic nonces", "7");
  return addDashboardOptions(addRecordsOption(addProgressOptions(command))).action(async (options: DemoFlags) => {
    const [{ schemeNamed }, { demoParties, runDemo }] = await Promise.all([
      import("../../scheme/registry.ts"),
      import("../../simulate/demo.ts"),
    ]);
    const portable = schemeNamed(options.scheme).kernelName() === "portable";
    const size = portable ? sizes.portable : sizes.native;
    const rows = wholeNumber("--rows", options.rows ?? size.rows, 100, 1_000_000);
    const trees = wholeNumber("--num-round", options.numRound ?? size.trees, 1, 1000);
    const seed = wholeNumber("--seed", options.seed, 0, 4294967295);
    const progress = await openProgress(options, demoParties[0]);
    if (portable && options.rows === undefined) {
      progress.line(
        "No native kernel on this machine: the demo runs on the portable one, with fewer people and trees.",
      );
    }
    progress.line(
      `A bank, a retailer and a telecom know the same ${rows.toLocaleString("en")} people. ` +
        "Only the bank knows who defaulted.",
    );
    const folder = recordsFolder(options);
    const keep = folder === null ? undefined : { directory: folder, job: keptJobName("demo") };
    const viewers =
      keep === undefined
        ? []
        : demoParties.map((name) => ({ name, directory: join(keep.directory, name), job: keep.job }));
    await besideDashboard(options, viewers, progress, async () => {
      const onEvent: Emit = (event) => progress.handle(event);
      const demo = { rows, trees, seed, scheme: options.scheme, keep, onEvent };
      const result = await runDemo(demo, supervise).finally(() => progress.close());
      const summary = summarise(result.federation, toSchemeFacts(result.job), result.difference === "");
      const text = options.json === true ? jsonOf(result, summary) : tablesOf(result, summary);
      process.stdout.write(`${text}\n`);
      if (keep !== undefined)
        progress.line(`report: ${await writeReport(join(keep.directory, demoParties[0], keep.job))}`);
      if (result.difference === "") progress.line("Next: your own table, docs/own-data.md");
      if (result.difference !== "")
        throw new TandemError("INTERNAL", `federated and centralised model differ: ${result.difference}`);
    });
  });
}

function jsonOf(result: DemoResult, summary: JobSummary): string {
  const { bankAlone, federated, onePlace } = result;
  return JSON.stringify({
    ...summary,
    comparison: { bankAlone, federated, onePlace },
  });
}

function tablesOf(result: DemoResult, summary: JobSummary): string {
  const row = (name: string, metrics: Readonly<Record<string, number>>): string[] => [
    name,
    metrics["auc"].toFixed(4),
    metrics["ks"].toFixed(4),
  ];
  const same =
    result.difference === "" ? "yes: every split, threshold and leaf weight, bit for bit" : `NO: ${result.difference}`;
  return [
    "",
    textTable([
      [`${result.testRows.toLocaleString("en")} people not trained on`, "AUC", "KS"],
      row("the bank alone", result.bankAlone),
      row("federated (no rows shared)", result.federated),
      row("all data in one place", result.onePlace),
    ]),
    "",
    `  federated equals centralised?  ${same}`,
    "  privacy: exact. Sums have no noise; docs/privacy-choices.md lists defences that lower what a job reveals.",
    "",
    costTable(summary),
    "",
  ].join("\n");
}
