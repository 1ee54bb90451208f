/** Candidate sums of the requested nodes. */
import type {
  ActiveNode,
  CategoryGroup,
  NodeMembers,
  PassiveHistograms,
} from "../wire/generated/tandem/v1/tandem_pb.ts";
import { call, type Digests, noBytes, type Note, numberBytes, observation, ofAllPieces } from "./call.ts";

type NodeMessage = Pick<ActiveNode, "tree" | "node" | "scheme">;
type NodeOrigin = Pick<NodeMembers, "parent" | "sibling" | "members">;

/** Encoded or not. */
export interface SumsMessage extends Pick<
  PassiveHistograms,
  "tree" | "node" | "firstCandidate" | "lowerSides" | "suppressed" | "scheme"
> {
  /** Per candidate the number of instances on the summed side. */
  readonly counts: readonly number[];
  /** Category groups, which come first in the candidates; in the first message of an answer. */
  readonly groups: readonly Pick<CategoryGroup, "size" | "hasMissing" | "flipped">[];
}

interface AskedNode {
  readonly tree: number;
  readonly node: number;
  readonly request: NodeDigest;
  /** Per message. */
  readonly answers: Uint8Array[];
  readonly sums: Uint8Array[];
  readonly pieces: Uint8Array[];
}

type NodeEntry = "members" | "node gradients" | "answer" | "sums";

const histograms = call<"histograms">()({
  part: "tree",
  isOfVettings: true,
  /**
   * An answer has two entries, because its ciphertexts are re-randomised each time: `sums` are the ciphertexts, and
   * `answer` is everything else, which can be recomputed from the opened data.
   */
  entries: {
    members: { tag: 5, sender: "active", about: "node", words: "the members of" },
    /** Where members are hidden. */
    "node gradients": {
      tag: 12,
      sender: "active",
      about: "node",
      words: "the encrypted gradients of",
      ofPieces: ofAllPieces,
    },
    answer: { tag: 6, sender: "passive", about: "node", words: "the answer about" },
    sums: {
      tag: 7,
      sender: "passive",
      about: "node",
      words: "the sums of",
      isFresh: true,
      ofPieces: ofAllPieces,
      compared: "sums",
    },
  },
  observes: {
    members: observation({
      learner: "passive",
      /** @param origin null or undefined for the root; its members are a bitmap over the parent's instances */
      see: ({ tree, node, scheme }: NodeMessage, origin: NodeOrigin | null | undefined, instanceCount: number) => {
        const { parent, sibling, members } = origin ?? { parent: 0, sibling: 0, members: noBytes };
        const bytes = members.length + scheme.length;
        return { tree, node, parent, sibling, instanceCount, members, bytes };
      },
      counts: { memberships: ({ instanceCount }) => instanceCount },
    }),
    /** Gradients encrypted for one node, where members are hidden. */
    "encrypted node": observation({
      learner: "passive",
      /** @param bytes of all messages of the node */
      see: (tree: number, node: number, ciphertexts: number, bytes: number) => ({ tree, node, ciphertexts, bytes }),
      counts: { encryptedGradients: ({ ciphertexts }) => ciphertexts },
    }),
    /** Which interaction groups are open at a node below the root, in a job that has groups. */
    "open groups": observation({
      learner: "passive",
      see: ({ tree, node }: Pick<ActiveNode, "tree" | "node">) => ({ tree, node, bytes: numberBytes }),
      counts: { openGroups: () => 1 },
    }),
    sums: observation({
      learner: "active",
      /**
       * @param rows per candidate its slot sums and count, at the active party; null at the passive party
       * @param isDrawn columns are sampled and hints link candidates: the answer reveals which were drawn
       * @param areShares sums are hidden: uniform numbers without the passive party's shares
       */
      see: (message: SumsMessage, rows: Float64Array | null, isDrawn = false, areShares = false) => {
        const { tree, node, firstCandidate, counts, lowerSides, suppressed, groups, scheme } = message;
        const numbers = counts.length + 3 * groups.length;
        const bytes = numbers * numberBytes + lowerSides.length + suppressed.length + scheme.length;
        return { tree, node, firstCandidate, counts, suppressed, groups, isDrawn, areShares, rows, bytes };
      },
      counts: {
        candidateSums: ({ counts, areShares }) => (areShares ? 0 : counts.length),
        drawnTogether: ({ isDrawn, counts }) => (isDrawn ? counts.length : 0),
      },
    }),
  },
  ledger: {
    memberships: {
      learner: "passive",
      what: "which instances are in each node that is split",
      unit: "instances of nodes",
      scale: "people of levels",
    },
    openGroups: {
      learner: "passive",
      what: "which of the interaction groups that it has features in are open",
      unit: "nodes below a root",
      scale: "splits",
    },
    candidateSums: {
      learner: "active",
      what: "the sums of g and h of one side, and its count where counts are sent",
      unit: "unnamed candidates",
      scale: "candidates of nodes",
    },
    drawnTogether: {
      learner: "active",
      what: "which candidates are drawn together",
      unit: "unnamed candidates drawn for a node",
      scale: "candidates of nodes",
    },
  },
  recorder({ digests, keepsPieces }) {
    const asked = new Map<string, AskedNode>();
    const notesOf = ({ tree, node, request: sent, answers, sums, pieces }: AskedNode): Note<NodeEntry>[] => [
      { kind: "members", tree, node, digest: sent.members },
      ...(sent.hasGradients ? [{ kind: "node gradients" as const, tree, node, digest: sent.gradients }] : []),
      { kind: "answer", tree, node, digest: digests.bytes(...answers) },
      { kind: "sums", tree, node, digest: ofAllPieces(digests, sums), ...(keepsPieces ? { pieces } : {}) },
    ];
    let request = new NodeDigest(digests);
    return {
      request(message) {
        const { tree, node, more } = message;
        request.add(message);
        if (more) return;
        asked.set(`${tree}/${node}`, { tree, node, request, answers: [], sums: [], pieces: [] });
        request = new NodeDigest(digests);
      },
      closed({ tree, node, more }) {
        const sent = asked.get(`${tree}/${node}`)?.request;
        return more || sent === undefined || !sent.hasGradients ? null : { tree, node, digest: sent.digest };
      },
      answer(message) {
        const node = asked.get(`${message.tree}/${message.node}`);
        if (node === undefined) return;
        node.answers.push(digests.message({ ...message, scheme: noBytes, signature: noBytes }));
        node.sums.push(digests.bytes(message.scheme));
        if (keepsPieces) node.pieces.push(message.scheme);
      },
      answered({ tree, node, firstCandidate, counts, candidateCount }) {
        const whole = asked.get(`${tree}/${node}`);
        const isLast = firstCandidate + counts.length === candidateCount;
        if (whole === undefined || !isLast || !whole.request.hasGradients) return null;
        return { tree, node, notes: notesOf(whole) };
      },
      notes: () => [...asked.values()].flatMap(notesOf),
    };
  },
});

/**
 * The digest of a node's request, message by message. All bytes of its gradients are hashed: the active party signs the
 * digest, a passive party compares it in later attempts, and an auditor recomputes it.
 */
export class NodeDigest {
  readonly #digests: Digests;
  readonly #requests: Uint8Array[] = [];
  readonly #gradients: Uint8Array[] = [];
  /** Read after the last message, several times. */
  #digest: Uint8Array | null = null;

  constructor(digests: Digests) {
    this.#digests = digests;
  }

  add(message: ActiveNode): void {
    const { scheme } = message;
    this.#digest = null;
    this.#requests.push(this.#digests.message({ ...message, scheme: noBytes, signature: noBytes, entries: noBytes }));
    if (scheme.length > 0) this.#gradients.push(this.#digests.shared(scheme));
  }

  /** Where members are hidden. */
  get hasGradients(): boolean {
    return this.#gradients.length > 0;
  }

  /** Of everything but its gradients. */
  get members(): Uint8Array {
    return this.#requests.length === 1 ? this.#requests[0] : this.#digests.bytes(...this.#requests);
  }

  get gradients(): Uint8Array {
    return ofAllPieces(this.#digests, this.#gradients);
  }

  get digest(): Uint8Array {
    this.#digest ??= requestDigest(this.#digests, this.members, this.gradients);
    return this.#digest;
  }
}

/** What the active party signs of a node, from the digests of its entries. */
export function requestDigest(digests: Digests, members: Uint8Array, gradients: Uint8Array): Uint8Array {
  return digests.bytes(members, gradients);
}

export const histogramCalls = { histograms };
