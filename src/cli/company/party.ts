/** `tandem party`: a passive party's process. */
import type { Command } from "commander";
import { setUpV8 } from "../../base/scheduling/v8-settings.ts";
import type { PassiveConfig } from "../../party/config/config.ts";
import type { DisclosureFacts } from "../../privacy/disclosures.ts";
import { besideCrew, type BesideCrew } from "../../api/beside-crew.ts";
import { addCrewOption, type CrewFlags } from "./crew-option.ts";
import { companyCommand, type CompanyFlags, readExperiment, supervised } from "./company-process.ts";
import { addDashboardOptions, type DashboardFlags, serveBesideParty } from "../dashboard.ts";
import { addLeakageOptions, explainFirst, type LeakageFlags } from "../leakage.ts";
import { addMetricsOptions, type MetricsFlags, serveMetrics } from "./party-metrics.ts";
import { standardErrorScreen } from "../terminal/live-view.ts";

interface PartyFlags extends CompanyFlags, DashboardFlags, LeakageFlags, MetricsFlags, CrewFlags {
  readonly quiet?: boolean;
  readonly approvers?: string;
}

export function partyCommand(): Command {
  const command = companyCommand("party", "run a passive party: serve the jobs of its partners");
  addLeakageOptions(addMetricsOptions(addDashboardOptions(command)))
    .option("--json", "print the output of --explain-leakage as one line of JSON")
    .option(
      "--approvers <file>",
      "with --dashboard: people who may approve requests there, a name and a token per line",
    )
    .option("--quiet", "print warnings and errors only");
  return addCrewOption(command).action(runParty);
}

async function runParty(flags: PartyFlags): Promise<void> {
  const [{ readPassiveConfig }, { runPassive }, { partyOutput }] = await Promise.all([
    import("../../party/config/config.ts"),
    import("../../party/passive/run.ts"),
    import("../terminal/party-output.ts"),
  ]);
  const config = await readPassiveConfig(flags.config, await readExperiment(flags));
  setUpV8();
  const stop = new AbortController();
  if (flags.supervised === true)
    return supervised(config.name, (emit) =>
      besideCrew(config, flags, emit, stop.signal, (beside) =>
        runPassive(config, emit, { stop: stop.signal, once: true, ...beside }),
      ),
    );
  if (!(await explainFirst(flags, `any job that the policy of ${config.name} allows`, () => policyDisclosures(config))))
    return;
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  const write = (text: string): void => void process.stderr.write(text);
  const output = partyOutput(config, {
    quiet: flags.quiet === true,
    screen: process.stderr.isTTY === true ? standardErrorScreen() : null,
    write,
    now: () => new Date(),
  });
  const { name, output: kept, policy, tls } = config;
  const insecure = tls.insecure_key_file;
  const { approversIn, decisionsOf } = await import("./request-decisions.ts");
  const closeDashboard = await serveBesideParty(
    flags,
    {
      name,
      directory: kept.directory,
      job: null,
      decisions: policy.approval === "required" ? await decisionsOf(config, flags.config) : undefined,
    },
    flags.approvers === undefined ? undefined : await approversIn(flags.approvers, insecure),
  );
  const metrics = await serveMetrics(flags, insecure, output.emit, (text) => write(`${text}\n`)).catch(
    async (error: unknown) => {
      await closeDashboard();
      throw error;
    },
  );
  const { emit } = metrics;
  const serve = (beside: BesideCrew): Promise<void> => runPassive(config, emit, { stop: stop.signal, ...beside });
  await besideCrew(config, flags, emit, stop.signal, serve).finally(async () => {
    output.close();
    await Promise.all([metrics.close(), closeDashboard()]);
  });
}

async function policyDisclosures(config: PassiveConfig): Promise<readonly DisclosureFacts[]> {
  const [{ policyFacts }, { readPartyTable }, { sourceIn }] = await Promise.all([
    import("../../party/disclosure-facts.ts"),
    import("../../party/tables/party-data.ts"),
    import("../../data/sources/registry.ts"),
  ]);
  const text = "categories"; // as when it serves: a job decides whether it uses them
  const { table } = await readPartyTable(sourceIn(config.data), config.data, null, { text });
  return policyFacts(config, table);
}
