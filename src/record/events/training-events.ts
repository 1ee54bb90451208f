/** Trees, and the progress of a job between them. */
import { recordedMembership } from "../membership.ts";
import * as z from "zod/mini";
import type { Immutable } from "../../base/immutable.ts";
import type { Slot } from "../../codec/slot.ts";
import { type Phase, phases } from "../../protocol/phase.ts";
import { event } from "../event.ts";
import { count, countUpTo, flag, number, text, whole } from "../fields.ts";
import type { JobView } from "../job-view.ts";
import { info } from "../log-line.ts";
import { metrics, operationCounts, traffic } from "./training-fields.ts";

const phase = z.enum(phases);
/** A finished piece of work; times are milliseconds since the epoch. */
const phaseSpan = z.object({ party: text, phase, tree: count, level: count, from: number, to: number });

/** Bounded, since the page draws slots to scale. */
const scale = z.number().check(z.minimum(2 ** -128), z.maximum(2 ** 128));
const slot: z.ZodMiniType<Slot> = z.object({
  shift: number,
  alpha: scale,
  alphaMax: scale,
  r: countUpTo(128),
  padding: countUpTo(128),
  noise: z.exactOptional(
    z.object({ largest: whole, excess: whole, max: whole, people: whole, maskBits: z.exactOptional(countUpTo(128)) }),
  ),
});
function coarserBecause(scheme: string, isForHiddenSums = false): string {
  if (isForHiddenSums) return "hidden sums are compared with fewer bits (docs/hidden-sums.md)";
  return scheme === "curve"
    ? "with more, decrypting sums of this many people would take too long (docs/curve.md)"
    : `with this many people and trees, more would let answers of the ${scheme} scheme reveal more than sums`;
}

/** The slot layout as the job uses it, with the proof that no sum overflows. */
const layoutSummary = z.object({
  scheme: text,
  kind: text,
  codec: text,
  slots: z.array(slot),
  /** The number of values whose sum is proven not to overflow. */
  instanceCountMax: whole,
  /** Capacity of a plaintext in bits. */
  plaintextBitsMax: number,
  ciphertextBytes: number,
  plaintextsPerInstance: number,
  plaintextBits: number,
  sumsPerCiphertext: number,
  /** Gradients are encrypted anew for every node, and nothing is packed; `proof` is the scheme's. Left out: no. */
  hidesMembers: z.exactOptional(flag),
  proof: z.array(text),
});

/** The progress of a job: a snapshot with the spans finished since the last one. */
const progress = {
  tree: count,
  level: count,
  /** The phase of every busy party, as far as this one knows. */
  doing: z.record(text, phase),
  /** Payload bytes so far; at a passive party both directions are with the active one. */
  bytes: z.record(text, traffic),
  spans: z.array(phaseSpan),
};

export type PhaseSpan = Immutable<z.infer<typeof phaseSpan>>;
export type LayoutSummary = Immutable<z.infer<typeof layoutSummary>>;
type Progress = Immutable<z.infer<z.ZodMiniObject<typeof progress>>>;

export const trainingEvents = {
  joined: event(
    { peer: text, featureCount: count, job: z.exactOptional(text) },
    {
      log: ({ peer, job = null, featureCount }) => {
        const take = featureCount === 1 ? "1 feature takes" : `${featureCount} features take`;
        return info(`${peer} joined with job ${job ?? ""}; ${take} part`, { peer, job, featureCount });
      },
      terminal: {
        of: "own",
        line: ({ party, peer, featureCount }) =>
          `${party}: ${peer} joined with ${featureCount === 1 ? "1 feature" : `${featureCount} features`}`,
      },
      fold: (view, { peer, featureCount }) => {
        view.waiting = null;
        const soFar = view.ledgers.get(peer);
        if (soFar !== undefined) view.earlierLedgers.set(peer, soFar);
        for (const party of view.parties) {
          if (party.name === peer) party.connected = true;
          // At a passive party the event has the number of its own features that take part.
          if (party.name === (view.role === "active" ? peer : view.party)) party.featureCount = featureCount;
        }
      },
    },
  ),
  /** At the active party: gradients are rounded more coarsely than requested, for hidden sums or for the scheme. */
  resolution: event(
    { job: text, scheme: text, asked: count, resolutionBits: count, isForHiddenSums: z.exactOptional(flag) },
    {
      terminal: {
        of: "any",
        line: ({ party, resolutionBits, asked, scheme, isForHiddenSums }) =>
          `${party}: resolution_bits ${resolutionBits} instead of ${asked}: ${coarserBecause(scheme, isForHiddenSums)}`,
      },
      fold: (view, { resolutionBits }) => {
        view.parameters = { ...view.parameters, resolution_bits: resolutionBits };
      },
    },
  ),
  layout: event(
    { layout: layoutSummary },
    {
      terminal: {
        of: "any",
        line: ({ party, layout }) =>
          [`${party}: ${layoutLine(layout)}; no sum can overflow`, ...schemeProof(layout)].join("\n  "),
      },
      fold: (view, { layout, at }) => {
        view.layout = layout;
        beginTraining(view, at);
      },
    },
  ),
  /** At the active party. */
  tree: event(
    {
      tree: count,
      treeCount: count,
      metrics,
      validation: z.exactOptional(metrics),
      counts: z.exactOptional(operationCounts),
    },
    {
      fold: (view, { tree, at, metrics: train, validation = null, treeCount, counts }) => {
        // A tree that is grown again replaces its first attempt and all that came after it.
        view.rounds = [...view.rounds.filter((round) => round.tree < tree), { tree, at, train, validation }];
        finishTree(view, { tree, treeCount, counts, at });
      },
    },
  ),
  "passive-tree": event(
    { peer: text, job: z.exactOptional(text), tree: count, treeCount: count, counts: z.exactOptional(operationCounts) },
    {
      log: ({ peer, job = null, tree, treeCount }) =>
        info(`tree ${tree + 1} of ${treeCount} finished`, { peer, job, tree: tree + 1, treeCount }),
      fold: finishTree,
      counter: { name: "tandem_trees_total", help: "Trees that were finished." },
    },
  ),
  progress: event(progress, {
    fold: (view, said) => {
      beginTraining(view, said.at);
      proceed(view, said);
    },
  }),
};

function beginTraining(view: JobView, at: number): void {
  view.state = "training";
  view.trainingStartedAt ??= at;
}

interface FinishedTree {
  readonly tree: number;
  readonly treeCount: number;
  readonly counts?: JobView["counts"] | undefined;
  readonly at: number;
}

function finishTree(view: JobView, { tree, treeCount, counts, at }: FinishedTree): void {
  beginTraining(view, at);
  view.counts = counts ?? view.counts;
  view.treesDone = tree + 1;
  view.level = 0;
  view.treeCount = treeCount;
  view.treeEnds = [...view.treeEnds.slice(0, tree), at];
}

function proceed(view: JobView, { level, spans, bytes, doing }: Progress): void {
  view.level = level;
  for (const span of spans) addSpan(view, span);
  const flow = { sent: 0, received: 0 };
  for (const [peer, { activeToPassive, passiveToActive }] of Object.entries(bytes)) {
    const [out, back] =
      view.role === "active" ? [activeToPassive, passiveToActive] : [passiveToActive, activeToPassive];
    flow.sent += out;
    flow.received += back;
    const party = view.parties.find(({ name }) => name === peer);
    if (party !== undefined) [party.sentBytes, party.receivedBytes] = [back, out];
  }
  for (const party of view.parties) {
    party.doing = doing[party.name] ?? null;
    if (party.self) [party.sentBytes, party.receivedBytes] = [flow.sent, flow.received];
  }
}

function addSpan(view: JobView, span: PhaseSpan): void {
  const byPhase = view.totals.get(span.party) ?? new Map<Phase, number>();
  byPhase.set(span.phase, (byPhase.get(span.phase) ?? 0) + span.to - span.from);
  view.totals.set(span.party, byPhase);
  const { current } = view.spans;
  if (current.length > 0 && span.tree > current[0].tree) view.spans = { previous: current, current: [span] };
  else if (current.length === 0 || span.tree === current[0].tree) current.push(span);
}

/** The scheme's own proof, where there are no slots. */
function schemeProof(layout: LayoutSummary): readonly string[] {
  return recordedMembership(layout).gradientsAreShared ? [] : layout.proof;
}

/** How many ciphertexts the gradients of an instance take. */
function layoutLine(layout: LayoutSummary): string {
  if (!recordedMembership(layout).gradientsAreShared)
    return "every node has gradients of its own, with zeros for people outside it";
  const { slots, plaintextsPerInstance: ciphertexts } = layout;
  const what = slots.length === 2 ? "g and h" : `${slots.length / 2} pairs of g and h`;
  const words = ciphertexts === 1 ? "one" : ciphertexts === 2 ? "two" : String(ciphertexts);
  return `${what} take ${words} ${ciphertexts === 1 ? "ciphertext" : "ciphertexts"} per person`;
}
