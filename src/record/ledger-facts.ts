/**
 * The ledger of disclosures for people: which party learned what about which, how often, and compared with which
 * maximum. Runs in browsers too.
 */
import { formatCount, formatPerPerson } from "../base/text/format.ts";
import type { LedgerScale } from "../messages/call.ts";
import { type Ledger, ledgerEntries, ledgerNames } from "../messages/ledger.ts";
import { featuresOf } from "./job-facts.ts";
import { isUnderWay, type JobView } from "./job-view.ts";
import { consentSentences, type Revealed, revealedFacts, vettingSentences } from "./revealed.ts";
import { assumption, coversAll } from "./spending-facts.ts";

/** A count compared with its maximum, as text and as a fraction; null where it has no bound. */
export interface Scale {
  readonly words: string;
  readonly part: number | null;
}

export interface LedgerLine {
  readonly learner: string;
  readonly about: string;
  readonly what: string;
  readonly unit: string;
  readonly count: number;
  readonly scale: Scale;
}

/** The sentences above the lists. docs/leakage.md has the details. */
export function disclosureLead(view: JobView, revealed: readonly Revealed[]): readonly string[] {
  const outside = revealedFacts(view, revealed).length > 0;
  return [
    ...sentSentences(view, revealed),
    "Everything else that the parties have learned about each other " +
      `${isUnderWay(view.state) ? "so far" : "in training"} is counted below, as docs/leakage.md describes it` +
      `${outside ? "; what was revealed before and after training is listed with its dates" : ""}.`,
    assumption(view),
  ];
}

/** What was not sent in training, and where a consent has given it away since. */
export function sentSentences(view: JobView, revealed: readonly Revealed[]): readonly string[] {
  const training = view.startedAt === 0 ? "In training" : `In training (${daysOf(view)})`;
  return [
    `${training} no row, feature name or split threshold was sent to another party, and no passive party was sent a ` +
      "label, a gradient or a score that it can read.",
    ...vettingSentences(revealed),
    ...consentSentences(revealed),
  ];
}

function daysOf({ startedAt, lastAt }: JobView): string {
  const [first, last] = [startedAt, lastAt].map((at) => new Date(at).toISOString().slice(0, 10));
  return first === last ? first : `${first} to ${last}`;
}

/** What parties have learned so far in exchanges with this party. Entries with count 0 are left out. */
export function ledgerLines(view: JobView): LedgerLine[] {
  const lines: LedgerLine[] = [];
  for (const [peer, ledger] of view.ledgers) {
    const [active, passive] = view.role === "active" ? [view.party, peer] : [peer, view.party];
    const bounds = boundsOf(view, passive, ledger);
    for (const name of ledgerNames) {
      const { learner, what, unit, scale: compared } = ledgerEntries[name];
      const count = ledger[name];
      if (count === 0) continue;
      const [who, about] = learner === "active" ? [active, passive] : [passive, active];
      const scale = scales[compared](count, bounds);
      lines.push({ learner: who, about, what, unit, count, scale });
    }
  }
  return lines.sort(
    (a, b) => Number(b.learner === view.party) - Number(a.learner === view.party) || a.learner.localeCompare(b.learner),
  );
}

/** Upper bounds for a job of this size. Null: not known, or no bound. */
interface Bounds {
  readonly people: number | null;
  readonly predicted: number | null;
  readonly trees: number;
  /** Of all trees: splits, nodes whose sums are requested, and levels: one split per instance and level. */
  readonly splits: number | null;
  readonly nodes: number | null;
  readonly levels: number | null;
  readonly candidates: number | null;
  readonly features: number | null;
  /** Outcomes of a split cover all instances of the job. */
  readonly coversAll: boolean;
}

function boundsOf(view: JobView, passive: string, ledger: Ledger): Bounds {
  const { treesDone, treeCount, depthMax, membership, parties, state } = view;
  const trees = Math.min(Math.max(treeCount, 1), treesDone + (state === "training" ? 1 : 0)) || 1;
  const ofTrees = (perTree: number): number | null => (depthMax === 0 ? null : trees * perTree);
  const party = parties.find(({ name }) => name === passive);
  return {
    people: view.data?.trainRows || null,
    predicted: ledger.predictedIds || null,
    trees,
    splits: ofTrees(2 ** depthMax - 1),
    // Of two siblings one is requested, and the other follows. Where members are hidden both may be requested.
    nodes: ofTrees(membership.membersAreSent ? 2 ** (depthMax - 1) : 2 ** depthMax - 1),
    levels: ofTrees(depthMax),
    candidates: ledger.candidates || null,
    features: party === undefined ? null : featuresOf(view, party),
    coversAll: coversAll(view),
  };
}

const scales: Readonly<Record<LedgerScale, (count: number, bounds: Bounds) => Scale>> = {
  "candidates of nodes": (count, { candidates, nodes }) => partOf(ratio(count, candidates), nodes, "nodes"),
  // With hidden sums both of two siblings are compared: one candidate for each possible split.
  nodes: (count, { splits }) => partOf(count, splits, "nodes"),
  "candidates of splits": (count, { candidates, splits }) => partOf(ratio(count, candidates), splits, "splits"),
  candidates: (count, { candidates }) => partOf(count, candidates, "candidates"),
  features: (_, { features }) => ({
    words: features === null ? "" : `of ${formatCount(features)} features`,
    part: null,
  }),
  splits: (count, { splits }) => partOf(count, splits, "splits"),
  "people of levels": (count, { people, levels }) => perEach(count, people, "person", levels),
  "people of outcomes": (count, { people, levels, splits, coversAll }) =>
    perEach(count, people, "person", coversAll ? splits : levels),
  "people of splits": (count, { people, splits }) => perEach(count, people, "person", splits),
  "predicted people of splits": (count, { predicted, splits }) => perEach(count, predicted, "predicted person", splits),
  "predicted people": (count, { predicted }) => partOf(count, predicted, "predicted people"),
  ciphertexts: (count, { people, trees }) => {
    const each = ratio(count, people === null ? null : people * trees);
    const many = each === null ? "" : `${eachText(each)} per person and tree; `;
    return { words: `${many}unreadable without the secret key`, part: null };
  },
};

function ratio(count: number, by: number | null): number | null {
  return by === null ? null : count / by;
}

function eachText(value: number): string {
  return Number.isInteger(value) ? formatCount(value) : formatPerPerson(value);
}

/** "96 of at most 96 nodes" */
function partOf(count: number | null, most: number | null, noun: string): Scale {
  if (count === null) return { words: "", part: null };
  const many = formatCount(Math.round(count));
  if (most === null) return { words: `${many} ${noun}`, part: null };
  return { words: `${many} of at most ${formatCount(most)} ${noun}`, part: Math.min(1, count / most) };
}

/** "16.6 per person, of at most 48" */
function perEach(count: number, each: number | null, noun: string, most: number | null): Scale {
  const many = ratio(count, each);
  if (many === null) return { words: "", part: null };
  const words = `${eachText(many)} per ${noun}`;
  if (most === null) return { words, part: null };
  return { words: `${words}, of at most ${formatCount(most)}`, part: Math.min(1, many / most) };
}
