/** `tandem train`: the active party's process. */
import { type Command, Option } from "commander";
import { TandemError } from "../../base/error.ts";
import { setUpV8 } from "../../base/scheduling/v8-settings.ts";
import type { ActiveConfig } from "../../party/config/config.ts";
import { type ActiveSwitch, activeSwitches, activeSwitchNames } from "../../party/config/active-options.ts";
import type { DisclosureFacts } from "../../privacy/disclosures.ts";
import type { Emit } from "../../record/events.ts";
import type { ActiveResult } from "../../record/events/job-events.ts";
import type { LayoutSummary } from "../../record/events/training-events.ts";
import { besideTaskCrew } from "../../api/beside-crew.ts";
import { addCrewOption, type CrewFlags } from "./crew-option.ts";
import { activeConfig, companyCommand, type CompanyFlags, readExperiment, supervised } from "./company-process.ts";
import { addDashboardOptions, besideDashboard, type DashboardFlags } from "../dashboard.ts";
import { addLeakageOptions, explainFirst, type LeakageFlags } from "../leakage.ts";
import { addExamples } from "../terminal/help-text.ts";
import { addProgressOptions, openProgress, type ProgressFlags } from "../terminal/progress-options.ts";
import { writeReport } from "../report.ts";
import { toSchemeFacts } from "../scheme-options.ts";
import { toFlag, toOptionKey } from "../option-names.ts";
import { contributionIn, readableOutcome, trainOutcome } from "../terminal/train-outcome.ts";

interface TrainFlags extends CompanyFlags, ProgressFlags, DashboardFlags, LeakageFlags, CrewFlags {
  readonly warmStart?: string;
  readonly [option: string]: unknown;
}

export function trainCommand(): Command {
  const command = companyCommand("train", "run the active party's job: align, train, evaluate, save");
  for (const name of activeSwitchNames) command.addOption(new Option(`--${toFlag(name)}`, activeSwitches[name]));
  addCrewOption(addLeakageOptions(addDashboardOptions(addProgressOptions(command))))
    .option(
      "--warm-start <model>",
      "continue from the trees of a finished job: its name, its model's id, or its folder",
    )
    .action(runTrain);
  command.addHelpText("after", "\nSet parameters in the config, under training:, codec: and privacy:.");
  return addExamples(command, "tandem train -c active.yaml", "tandem train -c active.yaml --explain-leakage --dry-run");
}

async function runTrain(flags: TrainFlags): Promise<void> {
  const { runActive } = await import("../../party/active/run.ts");
  const config = await configOf(flags);
  setUpV8();
  const run = (emit: Emit): Promise<void> =>
    besideTaskCrew(config, flags, emit, (world) => runActive(config, emit, world));
  if (flags.supervised === true) return supervised(config.name, run);
  if (!(await explainFirst(flags, `job ${config.job.name}`, () => jobDisclosures(config)))) return;
  const progress = await openProgress(flags, config.name);
  const viewer = { name: config.name, directory: config.output.directory, job: config.job.name };
  await besideDashboard(flags, [viewer], progress, async () => {
    const seen: { result?: ActiveResult; layout?: LayoutSummary; commonCount?: number } = {};
    const started = performance.now();
    const handle: Emit = (event) => {
      if (event.type === "active-result") seen.result = event.result;
      if (event.type === "layout") seen.layout = event.layout;
      if ((event.type === "aligned" || event.type === "resumed") && event.commonCount !== undefined)
        seen.commonCount = event.commonCount;
      progress.handle(event);
    };
    await run(handle).finally(() => progress.close());
    if (seen.result === undefined) throw new TandemError("INTERNAL", "the job ended without a result");
    const contribution = seen.result.alone === undefined ? null : await contributionIn(config, seen.result.alone);
    const outcome = trainOutcome(
      config,
      toSchemeFacts(config.job),
      seen.result,
      contribution,
      seen.commonCount ?? null,
      (performance.now() - started) / 1000,
    );
    process.stdout.write(
      flags.json === true
        ? `${JSON.stringify({ ...outcome, layout: seen.layout })}\n`
        : `${readableOutcome(outcome)}\n`,
    );
    progress.line(`report: ${await writeReport(outcome.output)}`);
  });
}

async function configOf(flags: TrainFlags): Promise<ActiveConfig> {
  const { config: path, warmStart } = flags;
  const switches = activeSwitchNames.filter((name) => flags[toOptionKey(name)] === true).map((name) => [name, true]);
  const { unfinishedJob } = await import("../../party/active/checkpoints.ts");
  const config = await activeConfig(path, unfinishedJob, await readExperiment(flags));
  return {
    ...config,
    ...(Object.fromEntries(switches) as Partial<Record<ActiveSwitch, true>>),
    ...(warmStart === undefined ? {} : { warm_start: { model: warmStart } }),
  };
}

async function jobDisclosures(config: ActiveConfig): Promise<readonly DisclosureFacts[]> {
  const [{ activeFacts }, { readActiveTables }] = await Promise.all([
    import("../../party/active/disclosure-facts.ts"),
    import("../../party/active/tables.ts"),
  ]);
  return activeFacts(config, await readActiveTables(config));
}
