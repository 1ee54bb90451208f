/**
 * `tandem party`, `tandem train` and `tandem align`: one company's process. Under a supervisor it speaks in events, one
 * JSON a line.
 */
import { join } from "node:path";
import { Command, Option } from "commander";
import { formatBytes } from "../base/format.ts";
import { TandemError } from "../base/error.ts";
import type { ActiveConfig, PassiveConfig } from "../party/config.ts";
import type { DisclosureFacts } from "../privacy/disclosures.ts";
import type { ActiveResult, Emit, LayoutSummary } from "../record/events.ts";
import { addDashboardOptions, besideDashboard, type DashboardFlags, serveBesideParty } from "./dashboard.ts";
import { addLeakageOptions, explainFirst, type LeakageFlags } from "./leakage.ts";
import { standardErrorScreen } from "./live-view.ts";
import { addProgressOptions, Progress, type ProgressFlags } from "./progress.ts";
import { writeReport } from "./report.ts";
import { gainTable, type SplitGain, summariseActive } from "./model-summary.ts";
import { aloneTable, metricsTable } from "./summary.ts";
import { textTable } from "./text-table.ts";

interface PartyFlags extends ProgressFlags, DashboardFlags, LeakageFlags {
  readonly config: string;
  readonly supervised?: boolean;
  readonly out?: string;
  readonly compareAlone?: boolean;
  readonly warmStart?: string;
}

export function partyCommands(): Command[] {
  return [
    addLeakageOptions(
      addDashboardOptions(
        partyCommand("party", "run a passive party: a server that takes part in one job after the other"),
      ),
    )
      .option("--json", "say what --explain-leakage says as one JSON object on one line")
      .option("--quiet", "say nothing but what somebody should look into: warnings and errors")
      .action(runParty),
    addLeakageOptions(
      addDashboardOptions(
        addProgressOptions(partyCommand("train", "run the active party: align, train, evaluate, save")),
      ),
    )
      .option(
        "--compare-alone",
        "train this party's own columns alone too, afterwards and without encryption, and say what the others' have added",
      )
      .option("--warm-start <model>", "go on from the trees of a finished job: its name, its model's id, or its folder")
      .action(runTrain),
    partyCommand("align", "find the people that all parties have in common, and nothing more")
      .option("--out <file>", "where to write this party's aligned rows (default: aligned.csv in the job's folder)")
      .action(runAlign),
  ];
}

function partyCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .requiredOption("-c, --config <file>", "the party's config, as 'tandem init' writes it")
    .addOption(new Option("--supervised", "speak in events, serve one job, end when standard input closes").hideHelp());
}

async function runParty(flags: PartyFlags): Promise<void> {
  const [{ readPassiveConfig }, { runPassive }, { partyVoice }] = await Promise.all([
    import("../party/config.ts"),
    import("../party/passive/run.ts"),
    import("./party-voice.ts"),
  ]);
  const config = await readPassiveConfig(flags.config);
  const stop = new AbortController();
  if (flags.supervised === true)
    return supervised(config.name, (emit) => runPassive(config, emit, { stop: stop.signal, once: true }));
  if (!(await explainFirst(flags, `any job that the policy of ${config.name} allows`, () => policyDisclosures(config))))
    return;
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  const write = (text: string): void => void process.stderr.write(text);
  const voice = partyVoice(config, {
    quiet: flags.quiet === true,
    screen: process.stderr.isTTY === true ? standardErrorScreen() : null,
    write,
    now: () => new Date(),
  });
  const closeDashboard = await serveBesideParty(flags, {
    name: config.name,
    directory: config.output.directory,
    job: null,
  });
  await runPassive(config, voice.emit, { stop: stop.signal }).finally(() => {
    voice.close();
    return closeDashboard();
  });
}

async function runTrain(flags: PartyFlags): Promise<void> {
  const { runActive } = await import("../party/active/run.ts");
  const given = await activeConfig(flags, true);
  const config = flags.compareAlone === true ? { ...given, compare_alone: true } : given;
  if (flags.supervised === true) return supervised(config.name, (emit) => runActive(config, emit));
  if (!(await explainFirst(flags, `job ${config.job}`, () => jobDisclosures(config)))) return;
  const progress = Progress.onStandardError(flags, config.name);
  const viewer = { name: config.name, directory: config.output.directory, job: config.job };
  await besideDashboard(flags, [viewer], progress, async () => {
    const seen: { result?: ActiveResult; layout?: LayoutSummary; commonCount?: number } = {};
    const started = performance.now();
    const tell: Emit = (event) => {
      if (event.type === "active-result") seen.result = event.result;
      if (event.type === "layout") seen.layout = event.layout;
      if ((event.type === "aligned" || event.type === "resumed") && event.commonCount !== undefined)
        seen.commonCount = event.commonCount;
      progress.handle(event);
    };
    await runActive(config, tell).finally(() => progress.close());
    if (seen.result === undefined) throw new TandemError("INTERNAL", "the job ended without a result");
    const contribution = seen.result.alone === undefined ? null : await contributionIn(config, seen.result.alone);
    const outcome = trainOutcome(
      config,
      seen.result,
      contribution,
      seen.commonCount ?? null,
      (performance.now() - started) / 1000,
    );
    process.stdout.write(
      flags.json === true ? `${JSON.stringify({ ...outcome, layout: seen.layout })}\n` : `${readable(outcome)}\n`,
    );
    progress.line(`report: ${await writeReport(outcome.output)}`);
  });
}

async function policyDisclosures(config: PassiveConfig): Promise<readonly DisclosureFacts[]> {
  const [{ policyFacts }, { readPartyTable, sourceOf }] = await Promise.all([
    import("../party/disclosure-facts.ts"),
    import("../party/party-data.ts"),
  ]);
  return policyFacts(config, (await readPartyTable(sourceOf(config.data), config.data, null)).table);
}

async function jobDisclosures(config: ActiveConfig): Promise<readonly DisclosureFacts[]> {
  const [{ activeFacts }, { readActiveTables }] = await Promise.all([
    import("../party/active/disclosure-facts.ts"),
    import("../party/active/tables.ts"),
  ]);
  return activeFacts(config, await readActiveTables(config));
}

async function runAlign(flags: PartyFlags): Promise<void> {
  const { runAlignment } = await import("../party/active/run.ts");
  const config = await activeConfig(flags);
  const progress = Progress.onStandardError({}, config.name);
  const { path, aligned } = await runAlignment(config, flags.out, (event) => progress.handle(event));
  progress.close();
  const rows = aligned.pairwise.map(({ peer, idCount, sharedCount }) => [
    peer,
    idCount.toLocaleString("en"),
    sharedCount.toLocaleString("en"),
  ]);
  process.stdout.write(
    `\n${textTable([["party", "ids", "shared with us"], ...rows])}\n\n  ${aligned.rows.length.toLocaleString("en")} in common; our rows of them, in the common order: ${path}\n`,
  );
}

async function activeConfig(flags: PartyFlags, continues = false): Promise<ActiveConfig> {
  const [{ readActiveConfig }, { newJobName, unfinishedJob }] = await Promise.all([
    import("../party/config.ts"),
    import("../party/active/record.ts"),
  ]);
  const config = await readActiveConfig(
    flags.config,
    (directory) => (continues ? unfinishedJob(directory) : null) ?? newJobName(new Date()),
  );
  return flags.warmStart === undefined ? config : { ...config, warm_start: { model: flags.warmStart } };
}

interface Contribution {
  /** Metrics of the active party's own columns, on the same rows. */
  readonly alone: ActiveResult["metrics"];
  readonly parties: readonly SplitGain[];
}

interface TrainOutcome {
  readonly job: string;
  readonly output: string;
  readonly trees: number;
  readonly keyBits: number;
  readonly commonCount: number | null;
  readonly metrics: ActiveResult["metrics"];
  readonly contribution?: Contribution;
  readonly seconds: Readonly<
    Record<"total" | "keygen" | "handshake" | "encrypt" | "aggregate" | "decrypt" | "perTree", number>
  >;
  readonly bytes: ActiveResult["bytes"];
}

/** The honest comparison, and beside it how much of the model's gain each party's splits brought. */
async function contributionIn({ output, job }: ActiveConfig, alone: ActiveResult["metrics"]): Promise<Contribution> {
  const { readActiveShare } = await import("../store/share-files.ts");
  return { alone, parties: summariseActive(await readActiveShare(join(output.directory, job, "share.json"))).parties };
}

function trainOutcome(
  config: ActiveConfig,
  result: ActiveResult,
  contribution: Contribution | null,
  commonCount: number | null,
  totalSeconds: number,
): TrainOutcome {
  const seconds = (ms: number): number => Math.round(ms) / 1000;
  const { keygen, handshake, encrypt, aggregate, decrypt, training } = result.phasesMs;
  return {
    job: config.job,
    output: `${config.output.directory}/${config.job}`,
    trees: result.trees,
    keyBits: config.keyBits,
    commonCount,
    metrics: result.metrics,
    ...(contribution === null ? {} : { contribution }),
    seconds: {
      total: seconds(totalSeconds * 1000),
      keygen: seconds(keygen),
      handshake: seconds(handshake),
      encrypt: seconds(encrypt),
      aggregate: seconds(aggregate),
      decrypt: seconds(decrypt),
      perTree: seconds(training / (result.trees - (result.startTrees ?? 0))),
    },
    bytes: result.bytes,
  };
}

function readable({ metrics, contribution, seconds, bytes, output }: TrainOutcome): string {
  const quality =
    contribution === undefined
      ? [metricsTable(metrics)]
      : [
          aloneTable(metrics, contribution.alone, contribution.parties[0].name),
          "",
          gainTable("party", contribution.parties),
        ];
  const times = [
    ["seconds", "total", "key", "encrypt", "aggregate", "decrypt", "per tree"],
    [
      "",
      ...[seconds.total, seconds.keygen, seconds.encrypt, seconds.aggregate, seconds.decrypt, seconds.perTree].map(
        (s) => s.toFixed(2),
      ),
    ],
  ];
  const sent = `  ${formatBytes(bytes.activeToPassive)} sent, ${formatBytes(bytes.passiveToActive)} received`;
  return ["", ...quality, "", textTable(times), sent, "", `  results: ${output}`].join("\n");
}

async function supervised(name: string, run: (emit: Emit) => Promise<void>): Promise<void> {
  const emit: Emit = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);
  // A supervisor that is gone cannot stop us: its end of our standard input is the sign of life.
  process.stdin.on("end", () => process.exit(2)).resume();
  try {
    await run(emit);
  } catch (error) {
    const known =
      error instanceof TandemError
        ? error
        : new TandemError("INTERNAL", error instanceof Error ? (error.stack ?? error.message) : String(error));
    emit({ type: "error", party: name, code: known.code, message: known.message });
    process.exitCode = 2;
  }
  process.stdin.destroy();
}
