/** The result of `tandem train`, as JSON and as text. */
import { join } from "node:path";
import { formatBytes } from "../../base/text/format.ts";
import type { ActiveConfig } from "../../party/config/config.ts";
import type { ActiveResult } from "../../record/events/job-events.ts";
import type { SchemeFacts } from "../scheme-options.ts";
import { gainTable, type SplitGain, summariseActive } from "./model-summary.ts";
import { aloneTable, metricsTable } from "./summary.ts";
import { textTable } from "./text-table.ts";

interface Contribution {
  /** Metrics of the active party's own columns, on the same rows. */
  readonly alone: ActiveResult["metrics"];
  readonly parties: readonly SplitGain[];
}

interface TrainOutcome extends SchemeFacts {
  readonly job: string;
  readonly output: string;
  readonly trees: number;
  readonly commonCount: number | null;
  readonly metrics: ActiveResult["metrics"];
  readonly contribution?: Contribution;
  readonly seconds: Readonly<
    Record<"total" | "keygen" | "handshake" | "encrypt" | "aggregate" | "decrypt" | "perTree", number>
  >;
  readonly bytes: ActiveResult["bytes"];
}

/** Metrics without the passive parties, and each party's part of the total gain. */
export async function contributionIn(
  { output, job }: ActiveConfig,
  alone: ActiveResult["metrics"],
): Promise<Contribution> {
  const { readActiveShare } = await import("../../store/share-files.ts");
  return {
    alone,
    parties: summariseActive(await readActiveShare(join(output.directory, job.name, "share.json"))).parties,
  };
}

export function trainOutcome(
  config: ActiveConfig,
  scheme: SchemeFacts,
  result: ActiveResult,
  contribution: Contribution | null,
  commonCount: number | null,
  totalSeconds: number,
): TrainOutcome {
  const seconds = (ms: number): number => Math.round(ms) / 1000;
  const { keygen, handshake, encrypt, aggregate, decrypt, training } = result.phasesMs;
  return {
    job: config.job.name,
    output: `${config.output.directory}/${config.job.name}`,
    trees: result.trees,
    ...scheme,
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

export function readableOutcome({ metrics, contribution, seconds, bytes, output }: TrainOutcome): string {
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
