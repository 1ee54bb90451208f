/** What each preset reveals and takes by scheme, and what it costs in the job's metric. */
import { formatBytes, formatSeconds } from "../../base/text/format.ts";
import type { PresetExposure, PresetOutlook, PresetPrice } from "../../privacy/attack/audit-result.ts";
import { metricTitle, metricValue, percent } from "./audit-figures.ts";
import { textTable } from "./text-table.ts";

export function presetsText(presets: readonly PresetOutlook[]): string {
  const bits = presets.find(({ exposure }) => exposure !== null)?.exposure?.bits ?? 0;
  const line = presets.find(({ cost }) => cost !== null)?.cost?.overLine;
  const refused = presets.filter(({ refusal }) => refusal !== null);
  const table = textTable([
    ["What each preset reveals", "sums", "outcomes", "+ sums", "scores", "labels", "here", "on a line", "sent"],
    ...presets.map(({ preset, scheme, isOfJob, sums, exposure, cost }) => [
      `${preset}, ${scheme}${isOfJob ? " (this)" : ""}`,
      sums,
      ...(exposure === null ? ["-", "-", "-", "-"] : exposureCells(exposure)),
      ...(cost === null
        ? ["-", "-", "-"]
        : [formatSeconds(cost.seconds), formatSeconds(cost.overLine.seconds), formatBytes(cost.bytes)]),
    ]),
  ]);
  return [
    table,
    `  outcomes, + sums, scores: bits of a person, of ${bits.toFixed(1)}. + sums is what sums add: proven, or at ` +
      "most (<).",
    "  labels: the AUC of the best guess of a passive party. here, on a line, sent: time and bytes of the job as",
    "  tandem estimate predicts them, with all parties on this machine, and on hosts of their own with a line of",
    `  ${line?.megabitsPerSecond ?? "-"} Mb/s and ${line?.roundTripMs ?? "-"} ms between them. ` +
      "Means over the passive parties.",
    ...(presets.every(({ exposure }) => exposure?.isComplete ?? true)
      ? []
      : ["  Attacks on exact sums reached the time limit: raise --seconds."]),
    ...refused.map(({ preset, scheme, refusal }) => `  ${preset} is not possible with ${scheme}: ${refusal}`),
  ].join("\n");
}

function exposureCells({ outcomes, sums, sumsAreBound, scores, labelsAuc }: PresetExposure): string[] {
  // A bound is rounded up.
  const added = sumsAreBound ? `< ${((Math.floor(100 * sums) + 1) / 100).toFixed(2)}` : sums.toFixed(1);
  return [outcomes.toFixed(1), added, scores.toFixed(1), labelsAuc === null ? "-" : labelsAuc.toFixed(2)];
}

/** A preset that loses more is warned of. */
const lossMax = 0.2;
/** A preset that keeps as much is recommended. */
const keptMin = 0.95;

/** What presets cost in the job's metric, warnings, and a recommendation. */
export function pricesText(prices: readonly PresetPrice[], presets: readonly PresetOutlook[] = []): string {
  const [{ metric, alone }] = prices;
  const shown = (value: number): string => metricValue(metric, value);
  const table = textTable([
    ["What each preset costs", "sums", metricTitle(metric), "gain kept", "single splits and draws"],
    ["the active party alone", "-", shown(alone), "-", "-"],
    ...prices.map(({ preset, sums, value, kept, lowest, highest }) => [
      preset,
      sums,
      shown(value),
      kept === null ? "-" : percent(kept),
      kept === null ? "-" : `${percent(lowest)} to ${percent(highest)}`,
    ]),
  ]);
  return [
    table,
    `  ${metricTitle(metric)} on test rows, and the share of the federation's gain that is kept, (preset - alone) /`,
    "  (exact - alone): means of three splits of the rows, with two draws where sums have noise.",
    ...adviceOn(prices, presets).map((line) => `  ${line}`),
  ].join("\n");
}

function adviceOn(prices: readonly PresetPrice[], presets: readonly PresetOutlook[]): string[] {
  const [exact, ...others] = prices;
  if (exact === undefined || exact.kept === null || others.some(({ kept }) => kept === null || !Number.isFinite(kept)))
    return ["The other parties' columns add nothing here: there is no gain to keep."];
  const warnings = others
    .filter(({ kept }) => (kept ?? 0) < 1 - lossMax)
    .map(({ preset, kept }) => `Warning: ${preset} costs ${percent(1 - (kept ?? 0))} of the gain on this table.`);
  // The stricter one only where the other keeps as much: otherwise the difference is chance.
  const keeps = others.findIndex(({ kept }) => (kept ?? 0) < keptMin);
  const best = keeps === -1 ? others.at(-1) : others[keeps - 1];
  const advice =
    best === undefined
      ? `No preset keeps ${percent(keptMin)} of the gain surely: test with more people before you choose one.`
      : `Take ${best.preset}: it keeps ${percent(best.kept ?? 0)} of the gain on this table${toldBy(best, presets)}.`;
  return [...warnings, advice];
}

/** What training with the job's own scheme reveals, with the preset and without. */
function toldBy({ preset }: PresetPrice, presets: readonly PresetOutlook[]): string {
  const [ofPreset, ofExact] = [preset, "exact"].map(
    (name) => presets.find((row) => row.preset === name && row.isOfJob)?.exposure ?? null,
  );
  if (ofPreset === null || ofExact === null) return "";
  const [revealed, before] = [ofPreset, ofExact].map(({ outcomes, sums }) => (outcomes + sums).toFixed(1));
  return `, and training reveals ${revealed} of ${ofPreset.bits.toFixed(1)} bits of a person instead of ${before}`;
}
