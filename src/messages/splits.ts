/** Splits that a passive party wins: the candidate that splits a node, and the outcome for its instances. */
import type { ActiveSplitDecisions, CategorySet, PassiveSplit } from "../wire/generated/tandem/v1/tandem_pb.ts";
import { call, type Digests, type EntryFacts, noBytes, type Note, numberBytes, observation } from "./call.ts";

const splitEntries = {
  decision: { tag: 9, sender: "active", about: "node", words: "the decision at" },
  outcome: { tag: 10, sender: "passive", about: "node", words: "the outcome at" },
} as const satisfies Record<string, EntryFacts>;

type NodeOfTree = Pick<PassiveSplit, "tree" | "node">;

type NamedSet = Pick<CategorySet, "group" | "missingLeft"> & { readonly categories: readonly number[] };

/** Encoded or not. */
export interface DecisionMessage {
  readonly node: number;
  readonly named:
    | { readonly case: "candidate"; readonly value: number }
    | { readonly case: "set"; readonly value: NamedSet }
    | { readonly case: undefined };
}

/**
 * The number of instances of an outcome. Where outcomes are hidden: the number of transfers, and what the active party
 * chose and received; null at the passive party, which does not know it.
 */
export type OutcomeFacts =
  | { readonly instanceCount: number }
  | {
      readonly transfers: number;
      readonly chosen: { readonly instanceCount: number; readonly leftMembers: Uint8Array } | null;
    };

const splitObservations = {
  win: observation({
    learner: "passive",
    see: (tree: number, { node, named }: DecisionMessage) => {
      /** The winning split: a candidate or a category set. */
      const candidates = named.case === "candidate" ? [named.value] : [];
      const sets = named.case === "set" ? [named.value] : [];
      const numbers = sets.reduce((sum, { categories }) => sum + categories.length, candidates.length);
      return { tree, node, candidates, sets, bytes: numbers * numberBytes };
    },
    counts: { wins: () => 1 },
  }),
  outcome: observation({
    learner: "active",
    see: ({ tree, node, leftMembers: sent }: NodeOfTree & Pick<PassiveSplit, "leftMembers">, facts: OutcomeFacts) => {
      const bytes = sent.length;
      if ("instanceCount" in facts)
        return { tree, node, instanceCount: facts.instanceCount, leftMembers: sent, transfers: 0, bytes };
      const { instanceCount, leftMembers } = facts.chosen ?? { instanceCount: 0, leftMembers: noBytes };
      return { tree, node, instanceCount, leftMembers, transfers: facts.transfers, bytes };
    },
    counts: {
      splitOutcomes: ({ transfers, instanceCount }) => (transfers > 0 ? 0 : instanceCount),
      // The passive party does not know how many were chosen, so both ends count all transfers.
      outcomeTransfers: ({ transfers }) => transfers,
    },
  }),
  /** The interaction groups of the feature that splits, in a job with groups. */
  "split groups": observation({
    learner: "active",
    see: ({ tree, node }: NodeOfTree) => ({ tree, node, bytes: numberBytes }),
    counts: { splitGroups: () => 1 },
  }),
};

type SplitNote = Note<keyof typeof splitEntries>;

const splits = call<"splits">()({
  part: "tree",
  entries: splitEntries,
  observes: splitObservations,
  ledger: {
    wins: {
      learner: "passive",
      what: "which of its candidates win, and where some tied",
      unit: "splits won",
      scale: "splits",
    },
    splitOutcomes: {
      learner: "active",
      what: "the side of each instance of the node, or of every instance of the job where members are hidden",
      unit: "sides of instances",
      scale: "people of outcomes",
    },
    splitGroups: {
      learner: "active",
      what: "for each split that it wins which of those that are open its feature is in",
      unit: "splits",
      scale: "splits",
    },
  },
  recorder({ digests }) {
    const notes: SplitNote[] = [];
    return {
      request: (message) => notes.push(...decisionNotes(digests, message)),
      answer: (split) => notes.push(outcomeNote(digests, split)),
      notes: () => notes,
    };
  },
});

/** Once per attempt of a job with hidden outcomes: keys for oblivious transfer, which reveal nothing. */
const outcomeKeys = call<"outcomeKeys">()({
  part: "attempt",
  observes: {
    "outcome keys": observation({ learner: "passive", see: (scheme: Uint8Array) => ({ bytes: scheme.length }) }),
    "outcome points": observation({ learner: "active", see: (scheme: Uint8Array) => ({ bytes: scheme.length }) }),
  },
});

/** The same splits where outcomes are hidden. */
const hiddenSplits = call<"hiddenSplits">()({
  part: "tree",
  entries: {
    ...splitEntries,
    choices: { tag: 11, sender: "active", about: "node", words: "the hidden choices from" },
  },
  observes: {
    ...splitObservations,
    /** Which instances are in a node, readable by the active party only. */
    choices: observation({
      learner: "passive",
      /** @param bytes of all messages of the node */
      see: (tree: number, node: number, bytes: number) => ({ tree, node, bytes }),
    }),
  },
  ledger: {
    outcomeTransfers: {
      learner: "active",
      what: "for each split that a passive party wins, the side of each instance of the node",
      unit: "people of the job, where outcomes of the node's people only can be read",
      scale: "people of splits",
    },
  },
  recorder({ digests }) {
    const decisions: SplitNote[] = [];
    const outcomes: SplitNote[] = [];
    const messages: Uint8Array[] = [];
    return {
      request(message) {
        if (message.request !== undefined) decisions.push(...decisionNotes(digests, message.request));
        messages.push(digests.message(message));
      },
      answer: (split) => outcomes.push(outcomeNote(digests, split)),
      notes() {
        const [first] = decisions;
        if (first === undefined) return [];
        // All messages of the call, filed under its first node.
        const { tree, node } = first;
        return [...decisions, { kind: "choices", tree, node, digest: digests.bytes(...messages) }, ...outcomes];
      },
    };
  },
});

function decisionNotes(digests: Digests, { tree, decisions }: ActiveSplitDecisions): SplitNote[] {
  return decisions.map((decision) => ({
    kind: "decision",
    tree,
    node: decision.node,
    digest: digests.message(decision),
  }));
}

function outcomeNote(digests: Digests, split: PassiveSplit): SplitNote {
  return { kind: "outcome", tree: split.tree, node: split.node, digest: digests.message(split) };
}

export const splitCalls = { splits, outcomeKeys, hiddenSplits };
