/** Summary of a finished job, as tables and as JSON. */
import { formatBytes, formatCount, formatMetric, formatSeconds } from "../../base/text/format.ts";
import type { ContributionRow } from "../../simulate/comparison.ts";
import type { FeatureImportance } from "../../api/model.ts";
import type { FederationResult } from "../../simulate/federation.ts";
import type { Metrics } from "../../record/events/training-fields.ts";
import type { SchemeFacts } from "../scheme-options.ts";
import { textTable } from "./text-table.ts";

export interface JobSummary extends SchemeFacts {
  readonly trees: number;
  readonly codec: string;
  readonly layout: FederationResult["layout"];
  readonly metrics: { readonly train: Metrics; readonly validation?: Metrics; readonly test: Metrics | null };
  readonly identicalToCentralised: boolean | null;
  readonly seconds: Readonly<
    Record<"total" | "keygen" | "handshake" | "encrypt" | "aggregate" | "decrypt" | "perTree", number>
  >;
  readonly cpuSeconds: number;
  readonly counts: Readonly<
    Record<"encryptions" | "additions" | "decryptions" | "gradientCiphertexts" | "candidateCiphertexts", number>
  >;
  readonly bytes: { readonly activeToPassive: number; readonly passiveToActive: number };
}

export function summarise(result: FederationResult, scheme: SchemeFacts, identical: boolean | null): JobSummary {
  const { active, passives, layout } = result;
  const { phasesMs } = active;
  return {
    trees: active.trees,
    ...scheme,
    codec: layout.codec,
    layout,
    metrics: active.metrics,
    identicalToCentralised: identical,
    seconds: {
      total: round(result.wallSeconds),
      keygen: round(phasesMs.keygen / 1000),
      handshake: round(phasesMs.handshake / 1000),
      encrypt: round(phasesMs.encrypt / 1000),
      aggregate: round(phasesMs.aggregate / 1000),
      decrypt: round(phasesMs.decrypt / 1000),
      perTree: round(phasesMs.training / 1000 / active.trees),
    },
    cpuSeconds: round(passives.reduce((sum, passive) => sum + passive.cpuSeconds, active.cpuSeconds)),
    counts: {
      encryptions: active.counts.encryptions,
      additions: passives.reduce((sum, passive) => sum + passive.counts.additions, 0),
      decryptions: active.counts.decryptions,
      gradientCiphertexts: active.counts.gradientCiphertexts,
      candidateCiphertexts: active.counts.candidateCiphertexts,
    },
    bytes: active.bytes,
  };
}

/** Training and test metrics, one row each. */
export function metricsTable({ train, validation, test }: JobSummary["metrics"]): string {
  const names = Object.keys(train);
  const cells = (metrics: Metrics): string[] => names.map((name) => formatMetric(metrics[name]));
  return textTable([
    ["", ...names],
    ["train", ...cells(train)],
    ...(validation === undefined ? [] : [["validation", ...cells(validation)]]),
    ...(test === null ? [] : [["test", ...cells(test)]]),
  ]);
}

/** The features with the largest total gain, in percent of that of all; or why there are none. */
export function importanceTable(importance: readonly FeatureImportance[], countMax = 10): string {
  if (importance.length === 0)
    return (
      "  No tree has a split: no candidate gains enough. Few rows, lambda, gamma, min_child_weight or privacy " +
      "cause it."
    );
  const all = importance.reduce((sum, { totalGain }) => sum + totalGain, 0);
  const rows = importance
    .slice(0, countMax)
    .map(({ feature, party, weight, totalGain }) => [
      feature,
      party,
      `${((100 * totalGain) / all).toFixed(1)} %`,
      formatCount(weight),
    ]);
  const others = importance.length - rows.length;
  const more = others > 0 ? [`  and ${formatCount(others)} other features`] : [];
  return [textTable([["importance", "party", "total gain", "splits"], ...rows]), ...more].join("\n");
}

/** Metrics of models trained without some parties: of test rows if there are any, else validation, else training. */
export function contributionTable(rows: readonly ContributionRow[]): string {
  const shown =
    rows[0].metrics.test !== null ? "test" : rows[0].metrics.validation !== undefined ? "validation" : "train";
  const of = ({ metrics }: ContributionRow): Metrics => metrics[shown] ?? {};
  const names = Object.keys(of(rows[0]));
  const title = ({ without }: ContributionRow, i: number): string =>
    without.length === 0
      ? "all parties"
      : i === rows.length - 1
        ? "the active party alone"
        : `without ${without.join(", ")}`;
  const cells = (row: ContributionRow): string[] =>
    names.flatMap((name) => [formatMetric(of(row)[name]), signed(of(row)[name], of(rows[0])[name])]);
  return textTable([
    [`${shown} rows`, ...names.flatMap((name) => [name, "change"])],
    ...rows.map((row, i) => [title(row, i), ...cells(row)]),
  ]);
}

/** A job's metrics compared with those of the active party's columns alone, on the same rows. */
export function aloneTable(metrics: JobSummary["metrics"], alone: JobSummary["metrics"], party: string): string {
  const names = Object.keys(metrics.train);
  const rows = (["train", "validation", "test"] as const).flatMap((set) => {
    const [together, own] = [metrics[set] ?? null, alone[set] ?? null];
    if (together === null || own === null) return [];
    return [
      [set, ...names.map((name) => formatMetric(together[name]))],
      [`${set}, ${party} alone`, ...names.map((name) => formatMetric(own[name]))],
      ["  added", ...names.map((name) => signed(together[name], own[name]))],
    ];
  });
  return textTable([["", ...names], ...rows]);
}

/** The signed change; empty if it is zero or a value is missing. */
function signed(to: number | null, from: number | null): string {
  const change = (to ?? Number.NaN) - (from ?? Number.NaN);
  return change === 0 || Number.isNaN(change) ? "" : `${change > 0 ? "+" : ""}${change.toFixed(4)}`;
}

/** Phases and traffic. */
export function costTable(summary: JobSummary): string {
  const { seconds, counts, bytes } = summary;
  return textTable([
    ["seconds", "total", "key", "handshake", "encrypt", "aggregate", "decrypt", "per tree"],
    [
      "",
      ...[
        seconds.total,
        seconds.keygen,
        seconds.handshake,
        seconds.encrypt,
        seconds.aggregate,
        seconds.decrypt,
        seconds.perTree,
      ].map((s) => s.toFixed(2)),
    ],
  ])
    .concat("\n")
    .concat(
      textTable([
        ["direction", "ciphertexts", "bytes"],
        ["active to passives", counts.gradientCiphertexts.toLocaleString("en"), formatBytes(bytes.activeToPassive)],
        ["passives to active", counts.candidateCiphertexts.toLocaleString("en"), formatBytes(bytes.passiveToActive)],
      ]),
    )
    .concat(
      `\n  ${formatCount(counts.encryptions)} encryptions, ` +
        `${formatCount(counts.additions)} additions under encryption, ` +
        `${formatCount(counts.decryptions)} decryptions; ${formatSeconds(summary.cpuSeconds)} of CPU in all parties`,
    );
}

/** To milliseconds. */
function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
