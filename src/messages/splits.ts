/** Splits that a passive party wins: which candidate splits a node, and the outcome for its instances. */
import type { ActiveSplitDecisions, PassiveSplit } from "../wire/generated/tandem/v1/tandem_pb.ts";
import { call, type Digests, type EntryFacts, type Note } from "./call.ts";

const splitEntries = {
  decision: { tag: 9, sender: "active", about: "node", words: "the decision at" },
  outcome: { tag: 10, sender: "passive", about: "node", words: "the outcome at" },
} as const satisfies Record<string, EntryFacts>;

type SplitNote = Note<keyof typeof splitEntries>;

export const splits = call<"splits">()({
  part: "tree",
  entries: splitEntries,
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
export const outcomeKeys = call<"outcomeKeys">()({ part: "attempt" });

/** The same splits where outcomes are hidden. */
export const hiddenSplits = call<"hiddenSplits">()({
  part: "tree",
  entries: {
    ...splitEntries,
    choices: { tag: 11, sender: "active", about: "node", words: "the hidden choices from" },
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
        // All that one call has sent, under the first of its nodes.
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
