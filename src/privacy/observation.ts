/**
 * What one side of a job sees of the other: one typed record per message, written where the message passes, by the end
 * that sends it and by the end that gets it. The ledger, the bytes on the way, the page and every attack on our own
 * jobs are made from these records, and from nothing else.
 *
 * Both ends make a record with the same function of the same message, so that they cannot disagree.
 *
 * A record may hold what was seen, and so never goes to a log, an event or another party. Counts do (ledger.ts).
 */
interface Seen {
  /** Payload of the message, without the framing of the transport. */
  readonly bytes: number;
}

/** What a passive party sees of the active one. */
export type PassiveObservation =
  | (Seen & {
      readonly kind: "gradients";
      readonly tree: number;
      readonly ciphertexts: number;
      readonly isFirst: boolean;
      /** Bitmap of the instances that are sampled; empty: all, or not the first chunk. */
      readonly sampled: Uint8Array;
    })
  | (Seen & {
      readonly kind: "members";
      readonly tree: number;
      readonly node: number;
      /** The nodes that it is told beside; 0 for the root. */
      readonly parent: number;
      readonly sibling: number;
      readonly instanceCount: number;
      /** Bitmap over the parent's instances; empty for the root. */
      readonly members: Uint8Array;
    })
  | (Seen & {
      /** Gradients of a node of its own, where members are hidden. */
      readonly kind: "sealed node";
      readonly tree: number;
      readonly node: number;
      readonly ciphertexts: number;
    })
  | (Seen & {
      readonly kind: "win";
      readonly tree: number;
      readonly node: number;
      /** The one that splits: a candidate or a set. */
      readonly candidates: readonly number[];
      readonly sets: readonly CategoriesOnly[];
    })
  /** Who is in a node, where outcomes are hidden: nobody but the active party can read it. */
  | (Seen & { readonly kind: "choices"; readonly tree: number; readonly node: number })
  | (Seen & { readonly kind: "outcome keys" })
  /** Which interaction groups are open at a node. */
  | (Seen & { readonly kind: "open groups"; readonly tree: number; readonly node: number })
  | (Seen & { readonly kind: "predicted ids"; readonly idCount: number });

/** What the active party sees of a passive one. */
export type ActiveObservation =
  | (Seen & { readonly kind: "candidates"; readonly candidateCount: number })
  | (Seen & { readonly kind: "hints"; readonly candidateCount: number })
  | (Seen & {
      readonly kind: "sums";
      readonly tree: number;
      readonly node: number;
      readonly firstCandidate: number;
      /** Per candidate how many are on the side that was summed. */
      readonly counts: readonly number[];
      readonly withheld: Uint8Array;
      /** Which candidates, from the first on, are categories of one feature; in the first piece of an answer. */
      readonly groups: readonly LinkedCategories[];
      /** Columns are sampled where hints link candidates: the answer shows which were drawn. */
      readonly isDrawn: boolean;
      /** Per candidate its slot sums and count, at the party that can read them; null at the other. */
      readonly rows: Float64Array | null;
    })
  | (Seen & { readonly kind: "order"; readonly tree: number; readonly node: number; readonly entryCount: number })
  | (Seen & {
      readonly kind: "outcome";
      readonly tree: number;
      readonly node: number;
      readonly instanceCount: number;
      readonly leftMembers: Uint8Array;
      /**
       * Where outcomes are hidden: how many people there were to choose from; the others above are those that the
       * active party has chosen, and nobody at the other end, which does not know them. 0: outcomes are told.
       */
      readonly transfers: number;
    })
  | (Seen & { readonly kind: "outcome keys" })
  | (Seen & {
      readonly kind: "prediction";
      readonly tree: number;
      readonly node: number;
      readonly rowCount: number;
      readonly leftMembers: Uint8Array;
    })
  /** Which interaction groups the feature that splits is in. */
  | (Seen & { readonly kind: "split groups"; readonly tree: number; readonly node: number })
  | (Seen & { readonly kind: "scores"; readonly rowCount: number });

export type Observation =
  | ({ readonly learner: "passive" } & PassiveObservation)
  | ({ readonly learner: "active" } & ActiveObservation);

/** As it travels (proto/, CategoryGroup). */
interface LinkedCategories {
  readonly size: number;
  readonly hasMissing: boolean;
  /** One more than the place of the candidate that is summed over all the others; 0: none. */
  readonly flipped: number;
}

interface CategoriesOnly {
  readonly categories?: readonly number[];
}

/** As it travels (proto/, ActiveSplitDecision). */
type NamedInMessage =
  | { readonly case: "candidate"; readonly value: number }
  | { readonly case: "set"; readonly value: CategoriesOnly }
  | { readonly case: undefined };

const numberBytes = 4;

export function gradientsSeen(
  chunk: {
    readonly tree: number;
    readonly sequence: number;
    readonly scheme: Uint8Array;
    readonly sampled: Uint8Array;
  },
  ciphertexts: number,
): Observation {
  const { tree, sequence, scheme, sampled } = chunk;
  const bytes = scheme.length + sampled.length;
  return { learner: "passive", kind: "gradients", tree, ciphertexts, isFirst: sequence === 0, sampled, bytes };
}

/** @param origin null or undefined for the root; its members are a bitmap over the parent's instances */
export function membersSeen(
  { tree, node, scheme }: { readonly tree: number; readonly node: number; readonly scheme: Uint8Array },
  origin: { readonly parent: number; readonly sibling: number; readonly members: Uint8Array } | null | undefined,
  instanceCount: number,
): Observation {
  const { parent, sibling, members } = origin ?? { parent: 0, sibling: 0, members: new Uint8Array(0) };
  const bytes = members.length + scheme.length;
  return { learner: "passive", kind: "members", tree, node, parent, sibling, instanceCount, members, bytes };
}

/** @param bytes of all messages of the node */
export function sealedNodeSeen(tree: number, node: number, ciphertexts: number, bytes: number): Observation {
  return { learner: "passive", kind: "sealed node", tree, node, ciphertexts, bytes };
}

export function winSeen(
  tree: number,
  { node, named }: { readonly node: number; readonly named: NamedInMessage },
): Observation {
  const candidates = named.case === "candidate" ? [named.value] : [];
  const sets = named.case === "set" ? [named.value] : [];
  const numbers = sets.reduce((sum, { categories }) => sum + (categories?.length ?? 0), candidates.length);
  return { learner: "passive", kind: "win", tree, node, candidates, sets, bytes: numbers * numberBytes };
}

/** In a job with interaction groups, of every node below the root. */
export function openGroupsSeen({ tree, node }: { readonly tree: number; readonly node: number }): Observation {
  return { learner: "passive", kind: "open groups", tree, node, bytes: numberBytes };
}

/** The same of every split. */
export function splitGroupsSeen({ tree, node }: { readonly tree: number; readonly node: number }): Observation {
  return { learner: "active", kind: "split groups", tree, node, bytes: numberBytes };
}

export function idsSeen(ids: readonly string[]): Observation {
  const bytes = ids.reduce((sum, id) => sum + Buffer.byteLength(id), 0);
  return { learner: "passive", kind: "predicted ids", idCount: ids.length, bytes };
}

export function candidatesSeen(candidateCount: number): Observation {
  return { learner: "active", kind: "candidates", candidateCount, bytes: 0 };
}

/** Where members are hidden: what links the answers of each candidate over all trees. */
export function hintsSeen(candidateCount: number, bytes: number): Observation {
  return { learner: "active", kind: "hints", candidateCount, bytes };
}

export function sumsSeen(
  message: {
    readonly tree: number;
    readonly node: number;
    readonly firstCandidate: number;
    readonly counts: readonly number[];
    readonly lowerSides: Uint8Array;
    readonly withheld: Uint8Array;
    readonly groups: readonly LinkedCategories[];
    readonly scheme: Uint8Array;
  },
  rows: Float64Array | null,
  isDrawn = false,
): Observation {
  const { tree, node, firstCandidate, counts, lowerSides, withheld, groups, scheme } = message;
  const numbers = counts.length + 3 * groups.length;
  const bytes = numbers * numberBytes + lowerSides.length + withheld.length + scheme.length;
  const seen = { tree, node, firstCandidate, counts, withheld, groups, isDrawn, rows, bytes };
  return { learner: "active", kind: "sums", ...seen };
}

export function orderSeen({
  tree,
  node,
  ranks,
}: {
  readonly tree: number;
  readonly node: number;
  readonly ranks: ArrayLike<number>;
}): Observation {
  const entryCount = ranks.length;
  return { learner: "active", kind: "order", tree, node, entryCount, bytes: entryCount * numberBytes };
}

type OutcomeMessage = { readonly tree: number; readonly node: number; readonly leftMembers: Uint8Array };

export function outcomeSeen({ tree, node, leftMembers }: OutcomeMessage, instanceCount: number): Observation {
  const bytes = leftMembers.length;
  return { learner: "active", kind: "outcome", tree, node, instanceCount, leftMembers, transfers: 0, bytes };
}

/**
 * An outcome where outcomes are hidden.
 * @param message as it travels, with masked bits
 * @param transfers everybody of the job
 * @param chosen the node's people, at the party that knows them; null at the other
 */
export function transferredSeen(
  { tree, node, leftMembers: masked }: OutcomeMessage,
  transfers: number,
  chosen: { readonly instanceCount: number; readonly leftMembers: Uint8Array } | null,
): Observation {
  const { instanceCount, leftMembers } = chosen ?? { instanceCount: 0, leftMembers: new Uint8Array(0) };
  const bytes = masked.length;
  return { learner: "active", kind: "outcome", tree, node, instanceCount, leftMembers, transfers, bytes };
}

/** Who is in a node, where outcomes are hidden. @param bytes of all messages of the node */
export function choicesSeen(tree: number, node: number, bytes: number): Observation {
  return { learner: "passive", kind: "choices", tree, node, bytes };
}

/** What is said once per attempt where outcomes are hidden. */
export function outcomeKeysSeen(learner: "active" | "passive", message: Uint8Array): Observation {
  return { learner, kind: "outcome keys", bytes: message.length };
}

/** Of masked scoring: the margins of so many rows, and no outcome. @param message what the sums travelled in */
export function scoresSeen(rowCount: number, message: Uint8Array): Observation {
  return { learner: "active", kind: "scores", rowCount, bytes: message.length };
}

export function predictionSeen({ tree, node, leftMembers }: OutcomeMessage, rowCount: number): Observation {
  return { learner: "active", kind: "prediction", tree, node, rowCount, leftMembers, bytes: leftMembers.length };
}
