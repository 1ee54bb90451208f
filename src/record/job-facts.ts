/**
 * Figures and texts derived from a job's view: the time left, time per phase, what batching saved, the head-room of the
 * slots. Runs in browsers too.
 */
import { formatCount } from "../base/text/format.ts";
import { largestField, slotBits } from "../codec/slot.ts";
import type { LayoutSummary, PhaseSpan } from "./events/training-events.ts";
import type { LedgerName } from "../messages/table.ts";
import type { Phase } from "../protocol/phase.ts";
import type { OwnJobView } from "./own-view.ts";
import { isUnderWay, type JobView, type PartyView } from "./job-view.ts";

const recentTrees = 8;

/** Estimated seconds until the last tree, from the times of recent trees; null before the first is done. */
export function secondsLeft(view: JobView, now: number): number | null {
  if (view.state !== "training" || view.treeEnds.length === 0) return null;
  const last = view.treeEnds[view.treeEnds.length - 1];
  const first =
    view.treeEnds.length > recentTrees
      ? view.treeEnds[view.treeEnds.length - 1 - recentTrees]
      : (view.trainingStartedAt ?? last);
  const perTree = (last - first) / Math.min(view.treeEnds.length, recentTrees);
  return Math.max(0, perTree * (view.treeCount - view.treesDone) - (now - last)) / 1000;
}

export function elapsedSeconds(view: JobView, now: number): number {
  const end = isUnderWay(view.state) ? Math.max(now, view.lastAt) : view.lastAt;
  return view.startedAt === 0 ? 0 : (end - view.startedAt) / 1000;
}

/** Texts of the phases, for people. */
export const phaseWords: Readonly<Record<Phase, string>> = {
  encrypt: "encrypting gradients",
  send: "receiving gradients",
  aggregate: "adding ciphertexts",
  return: "sending sums back",
  decrypt: "decrypting sums",
  decide: "choosing splits",
};

export function activityOf({ state }: JobView, { connected, doing }: PartyView): string {
  if (state === "finished") return "done";
  if (state === "failed") return connected ? "stopped" : "gone";
  if (state === "interrupted") return "stopped";
  if (doing !== null) return phaseWords[doing];
  if (!connected) return "not connected";
  return state === "aligning" ? "aligning" : state === "training" ? "waiting" : "connected";
}

/** Number of a party's features in the job; null: not known to the viewer. */
export function featuresOf(view: JobView, { featureCount, self }: PartyView): number | null {
  return featureCount ?? (self ? (view.data?.featureCount ?? null) : null);
}

/** What a party holds in the job. */
export function holdingOf(view: JobView, party: PartyView): string {
  if (party.role === "active")
    return view.membership.gradientsAreShared ? "labels, private key" : "labels, secret keys";
  const count = featuresOf(view, party);
  return count === null ? "features" : `${count} feature${count === 1 ? "" : "s"}`;
}

/** How often a job was resumed. */
export function resumedWords({ resumed }: JobView): string {
  return resumed === 1 ? "resumed once" : `resumed ${resumed} times`;
}

/** Shown instead of slots and guard bits where members are hidden. */
export const hiddenEncoding =
  "g and h of every person are encrypted anew for every node, as signed integers; for people outside " +
  "the node they are zero. Nothing is batched or packed. A sum that the people of its node cannot have stops the job.";

export interface BitField {
  readonly kind: "padding" | "slot";
  /** g, h, g2, h2 ... */
  readonly name: string;
  readonly bits: number;
}

/** The plaintext of one instance, or several where the key is too short: highest bits first. */
export function bitFields(layout: LayoutSummary): BitField[] {
  return layout.slots.flatMap((slot, index): BitField[] => [
    { kind: "padding", name: slotName(index), bits: slot.padding },
    { kind: "slot", name: slotName(index), bits: slot.r },
  ]);
}

export function slotName(index: number): string {
  const output = index >> 1;
  return `${index % 2 === 0 ? "g" : "h"}${output === 0 ? "" : output + 1}`;
}

export interface SlotFacts {
  readonly name: string;
  readonly informationBits: number;
  readonly guardBits: number;
  /** The largest sum that this job can produce, and the smallest that would overflow. */
  readonly sumMax: number;
  readonly limit: number;
  /** log2 of the limit over the largest sum. */
  readonly headRoomBits: number;
}

export function slotFacts(layout: LayoutSummary): SlotFacts[] {
  return layout.slots.map((slot, index) => {
    const sumMax = Number(largestField(slot, layout.instanceCountMax));
    const limit = (2 ** slot.padding - 1) * 2 ** slot.r;
    return {
      name: slotName(index),
      informationBits: slot.r,
      guardBits: slot.padding,
      sumMax,
      limit,
      headRoomBits: Math.log2(limit / sumMax),
    };
  });
}

/** The overflow proof as a table: its columns, and one row per slot. */
export const slotHead = [
  "slot",
  "information bits",
  "guard bits",
  "people",
  "largest possible sum",
  "overflow begins at",
  "head-room",
] as const;

export function slotRows(layout: LayoutSummary): string[][] {
  return slotFacts(layout).map((slot) => [
    slot.name,
    String(slot.informationBits),
    String(slot.guardBits),
    formatCount(layout.instanceCountMax),
    powerOfTwo(slot.sumMax),
    powerOfTwo(slot.limit),
    `${slot.headRoomBits.toFixed(2)} bits`,
  ]);
}

/** All digits are in the lines of the proof. */
function powerOfTwo(value: number): string {
  return value < 2 ** 20 ? formatCount(value) : `2^${Math.log2(value).toFixed(2)}`;
}

/** How many bits of a packed answer are used. */
export function packedBits(layout: LayoutSummary): { readonly used: number; readonly held: number } {
  return { used: layout.sumsPerCiphertext * layout.plaintextBits, held: layout.plaintextBitsMax };
}

export function plaintextBitsUsed(layout: LayoutSummary): number {
  return layout.slots.reduce((sum, slot) => sum + slotBits(slot), 0);
}

export interface Savings {
  readonly ciphertexts: number;
  readonly unbatched: number;
  readonly savedBytes: number;
}

/** Ciphertexts of gradients that were sent, and their number with one per slot, as in SecureBoost. */
export function gradientSavings(view: JobView): Savings | null {
  const { layout } = view;
  if (layout === null || !view.membership.gradientsAreShared) return null; // nothing is batched
  const ciphertexts = sumOfLedgers(view, "encryptedGradients");
  const unbatched = (ciphertexts / layout.plaintextsPerInstance) * layout.slots.length;
  return { ciphertexts, unbatched, savedBytes: (unbatched - ciphertexts) * layout.ciphertextBytes };
}

/** Ciphertexts of candidate sums that were received, and their number with one per slot and candidate. */
export function answerSavings(view: JobView): Savings | null {
  const { layout, counts } = view;
  if (layout === null || counts === null || view.role !== "active" || !view.membership.gradientsAreShared) return null;
  const unbatched = sumOfLedgers(view, "candidateSums") * layout.slots.length;
  return {
    ciphertexts: counts.candidateCiphertexts,
    unbatched,
    savedBytes: (unbatched - counts.candidateCiphertexts) * layout.ciphertextBytes,
  };
}

function sumOfLedgers(view: JobView, name: LedgerName): number {
  let sum = 0;
  for (const ledger of view.ledgers.values()) sum += ledger[name];
  return sum;
}

/** The party and phase that took most of the time. */
export function bottleneck(
  spans: readonly PhaseSpan[],
): { readonly party: string; readonly phase: Phase; readonly fraction: number } | null {
  if (spans.length === 0) return null;
  const sums = new Map<string, { readonly party: string; readonly phase: Phase; ms: number }>();
  let [from, to] = [Infinity, 0];
  for (const span of spans) {
    const { party, phase } = span;
    const sum = sums.get(`${phase} ${party}`) ?? { party, phase, ms: 0 };
    sum.ms += span.to - span.from;
    sums.set(`${phase} ${party}`, sum);
    [from, to] = [Math.min(from, span.from), Math.max(to, span.to)];
  }
  const [{ party, phase, ms }] = [...sums.values()].sort((a, b) => b.ms - a.ms);
  return { party, phase, fraction: Math.min(1, ms / Math.max(1, to - from)) };
}

export interface Mark {
  readonly at: number;
  readonly text: string;
}

/** What the rows of a job's data are. A passive party does not know which of them validate. */
export function rowsName({ rounds }: JobView): string {
  return rounds.some(({ validation }) => validation !== null) ? "training and validation rows" : "training rows";
}

/** Trees of the model if early stopping cut it; null if it has all trees, or is not finished. */
export function treesKept({ result, passiveResult, treesDone }: JobView): number | null {
  const trees = (result ?? passiveResult)?.trees ?? treesDone;
  return trees < treesDone ? trees : null;
}

/** Marks on the axis of trees: where early stopping cut the model, and where training stopped before its last tree. */
export function stoppingMarks(view: JobView): Mark[] {
  const { state, treesDone, treeCount } = view;
  const kept = treesKept(view);
  const cut = kept === null ? [] : [{ at: kept, text: `best: ${kept} kept` }];
  return state === "finished" && treesDone < treeCount ? [...cut, { at: treesDone, text: "stopped early" }] : cut;
}

/** The trees of the model: all that were grown, or those that early stopping kept. */
export function modelTrees(view: JobView, own: OwnJobView): OwnJobView {
  const kept = treesKept(view);
  if (kept === null) return own;
  return { ...own, trees: new Map([...own.trees].filter(([tree]) => tree < kept)) };
}

/** Counts as parts of their sum. */
export function fractionsOf(counts: readonly number[]): number[] {
  const total = counts.reduce((sum, count) => sum + count, 0) || 1;
  return counts.map((count) => count / total);
}

/** The metrics of all rounds: some rounds may not be evaluated. */
export function metricNamesOf({ rounds }: Pick<JobView, "rounds">): string[] {
  return [...new Set(rounds.flatMap(({ train }) => Object.keys(train)))];
}
