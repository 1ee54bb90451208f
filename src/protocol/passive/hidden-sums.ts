/**
 * A passive party whose sums are hidden. It masks them, keeps its shares until the tree ends, and finds the best
 * candidate of each node together with the active party. It learns no winner until the active party sends its share of
 * the place: then this candidate splits the node.
 *
 * A node is opened once, over all attempts: whatever the active party brings as totals of a node, it learns one
 * candidate of it. What was opened is stored before it is sent. In a later attempt the same nodes get the same bytes,
 * and are not compared. A comparison that was broken off before has revealed nothing, and is begun anew.
 *
 * @reveals active: of each node the sums of g and h of one side of its best candidate, where sums are hidden
 */
import { createHash } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { TandemError } from "../../base/error.ts";
import { NodeMasks } from "../../scheme/candidates/node-masks.ts";
import type { NodeTask } from "../../scheme/candidates/node-task.ts";
import { derivedShares, type NodeShares } from "../../scheme/maximum/node-shares.ts";
import { type KeptWinners, PassiveMaximums, placeFrom } from "../../scheme/maximum/passive-maximum.ts";
import type { PassiveHalf } from "../../scheme/scheme.ts";
import type {
  ActiveMaximum,
  ActiveMaximumKeys,
  ActiveSplitDecision,
  MaximumNodes,
  PassiveMaximumKeysSchema,
  PassiveMaximumSchema,
  SharedNode,
} from "../../wire/generated/tandem/v1/tandem_pb.ts";
import { Pieces, piecesOf } from "../../wire/pieces.ts";
import { bitsMax, bitsFor, flightBytesMax, sharesRing, sumsMost } from "../hidden-sums.ts";
import type { Attempt } from "./attempt.ts";
import type { ProtocolCalls } from "./membership.ts";
import type { OpenedNodes } from "./progress.ts";
import { checkNodeList } from "./split-decisions.ts";

/** A batch of nodes whose best candidates were found, in this attempt or repeated from an earlier one. */
interface Batch {
  answer(request: Uint8Array): Promise<Uint8Array>;
  readonly isFinished: boolean;
  readonly isRepeated: boolean;
}

interface AskedBatch {
  readonly tree: number;
  readonly bits: number;
  readonly ids: readonly number[];
}

/** The calls of a job with hidden sums. */
export function hiddenSumsCalls(hiddenSums: HiddenSums | null): Pick<ProtocolCalls, "maximumKeys" | "maximum"> {
  if (hiddenSums === null) return {};
  return {
    maximumKeys: (keys) => hiddenSums.keys(keys),
    maximum: (messages) => hiddenSums.maximum(messages),
  };
}

export class HiddenSums {
  readonly #attempt: Attempt;
  readonly #scheme: Pick<PassiveHalf, "maskBits">;
  readonly #maximums = new PassiveMaximums();
  #tree = -1;
  /** Of the current tree. */
  readonly #shares = new Map<number, NodeShares>();
  readonly #compared = new Set<number>();

  constructor(attempt: Attempt, scheme: Pick<PassiveHalf, "maskBits">) {
    this.#attempt = attempt;
    this.#scheme = scheme;
  }

  /**
   * The task with its masks.
   * @param digests of the gradients and the members that are summed
   */
  masked<Task extends NodeTask>(tree: number, task: Task, digests: readonly Uint8Array[]): Task {
    const { node, counts } = task;
    const { agreed, permutationSecret } = this.#attempt.job;
    this.#enter(tree);
    const digest = createHash("sha256");
    for (const each of digests) digest.update(each);
    const slots = 2 * agreed.outputs;
    const masks = new NodeMasks(permutationSecret, { tree, node, digest: digest.digest() }, counts.length, slots);
    const bits = this.#scheme.maskBits ?? 0;
    const slot = 2 * (tree % agreed.treesPerRound);
    this.#shares.set(node, {
      candidates: counts.length,
      gradients: masks.shares(slot, bits),
      hessians: masks.shares(slot + 1, bits),
    });
    return { ...task, masks };
  }

  async keys({ scheme }: ActiveMaximumKeys): Promise<MessageInitShape<typeof PassiveMaximumKeysSchema>> {
    const { course, tally } = this.#attempt;
    course.expect("growing");
    const answer = await this.#maximums.keys(scheme);
    tally.see("maximum keys", scheme);
    tally.see("maximum points", answer);
    return { scheme: answer };
  }

  async *maximum(
    messages: AsyncIterable<ActiveMaximum>,
  ): AsyncGenerator<MessageInitShape<typeof PassiveMaximumSchema>> {
    const { tally } = this.#attempt;
    const requests = messages[Symbol.asyncIterator]();
    try {
      let next = await nextOf(requests);
      if (next.nodes === undefined) throw new TandemError("PROTOCOL_STATE", "comparisons without nodes");
      const batch = this.#begin(next.nodes);
      const pieces = new Pieces(flightBytesMax);
      for (;;) {
        tally.see("comparison", next.scheme);
        const request = pieces.add(next);
        if (request === undefined) throw new TandemError("PROTOCOL_STATE", "a comparison that is too long");
        if (request !== null)
          for (const piece of piecesOf(await batch.answer(request))) {
            tally.see("compared shares", piece.scheme);
            yield { ...piece, repeated: batch.isRepeated };
          }
        if (batch.isFinished) break;
        next = await nextOf(requests);
        if (next.nodes !== undefined) throw new TandemError("PROTOCOL_STATE", "nodes in the middle of a comparison");
      }
      if ((await requests.next()).done !== true)
        throw new TandemError("PROTOCOL_STATE", "a comparison after the last one");
    } finally {
      await requests.return?.();
    }
  }

  /** The decision with the place of the candidate that it names a share of. */
  named(tree: number, decision: ActiveSplitDecision): ActiveSplitDecision {
    const { node, named } = decision;
    const opened = tree === this.#tree && this.#compared.has(node) ? this.#openedWith(tree, node) : undefined;
    if (opened === undefined || named.case !== "candidate")
      throw new TandemError("PROTOCOL_STATE", `node ${node} is to be split, but its candidates were not compared`);
    const places = opened.nodes.map(({ place }) => place);
    const index = opened.nodes.findIndex((each) => each.node === node);
    const value = placeFrom(opened, places, index, named.value);
    return { ...decision, named: { case: "candidate", value } };
  }

  /**
   * A tree that is redone ends with the comparisons of its first attempt: what it takes is counted once, at its end.
   * @throws TandemError PROTOCOL_STATE naming a node that was opened in an earlier attempt only
   */
  checkAllCompared(tree: number): void {
    if (tree !== this.#tree) this.#enter(tree);
    for (const { tree: ofTree, nodes } of this.#attempt.progress.current.opened)
      for (const { node } of nodes)
        if (ofTree === tree && !this.#compared.has(node))
          throw new TandemError(
            "PROTOCOL_STATE",
            `tree ${tree} was grown differently before: node ${node} was compared`,
          );
  }

  #openedWith(tree: number, node: number): OpenedNodes | undefined {
    return this.#attempt.progress.current.opened.find(
      (opened) => opened.tree === tree && opened.nodes.some((each) => each.node === node),
    );
  }

  #begin({ tree, batch, bits, nodes }: MaximumNodes): Batch {
    const { course, job, tally, answered } = this.#attempt;
    course.expectTree(tree);
    this.#enter(tree);
    const ids = nodes.map(({ node }) => node);
    checkNodeList(ids, job.agreed);
    if (nodes.length === 0) throw new TandemError("PROTOCOL_STATE", "comparisons of no node");
    const again = ids.find((id) => this.#compared.has(id));
    if (again !== undefined) throw comparedBefore(tree, again);
    const least = bitsFor(sumsMost(job.instanceCount, job.agreed.resolutionBits));
    if (bits < least || bits > bitsMax)
      throw new TandemError("PROTOCOL_STATE", `sums of ${bits} bits; this job has ${least} to ${bitsMax}`);
    const shares = nodes.map((node) => this.#sharesOf(node));
    const counts = shares.map(({ candidates }) => candidates);
    const known = ids.map((id) => this.#openedWith(tree, id));
    const begun = known.every((opened) => opened === undefined)
      ? this.#fresh({ tree, batch, bits, ids }, shares)
      : this.#repeated({ tree, bits, ids }, counts, known);
    for (const id of ids) if (!begun.isRepeated) answered.requireUnfinished(tree, id);
    nodes.forEach(({ node, parent, sibling }, index) => {
      this.#shares.set(node, shares[index]);
      this.#compared.add(node);
      if (sibling > 0) tally.see("tree shape", tree, node, parent, sibling);
      tally.see("best candidate", tree, node);
    });
    return begun;
  }

  #fresh({ tree, batch, bits, ids }: AskedBatch & { readonly batch: number }, shares: readonly NodeShares[]): Batch {
    const { progress, trees } = this.#attempt;
    const offered = ids.map((id) => trees.current.task(id).suppressed.map((isSuppressed) => 1 - isSuppressed));
    const keep = ({ sealed, opened, places }: KeptWinners): Promise<void> =>
      progress.update(({ opened: before }) => ({
        opened: [
          ...before,
          {
            tree,
            bits,
            nodes: ids.map((node, i) => ({ node, candidates: shares[i].candidates, place: places[i] })),
            sealed: base64(sealed),
            opened: base64(opened),
          },
        ],
      }));
    const begun = this.#maximums.begin(batch, { bits, shareBits: this.#shareBits(bits) }, shares, offered, keep);
    return {
      answer: (request) => begun.answer(request),
      get isFinished() {
        return begun.isFinished;
      },
      isRepeated: false,
    };
  }

  /** @throws TandemError PROTOCOL_STATE unless these nodes were opened in one batch, on the same terms */
  #repeated(
    { tree, bits, ids }: AskedBatch,
    candidates: readonly number[],
    known: readonly (OpenedNodes | undefined)[],
  ): Batch {
    const [opened] = known;
    const isSame =
      opened !== undefined &&
      opened.bits === bits &&
      opened.nodes.length === ids.length &&
      opened.nodes.every(({ node, candidates: count }, i) => node === ids[i] && count === candidates[i]);
    if (!isSame) throw comparedBefore(tree, ids[known.findIndex((each) => each !== undefined)]);
    let isFinished = false;
    return {
      answer: () => {
        isFinished = true;
        return Promise.resolve(Buffer.concat([fromBase64(opened.sealed), fromBase64(opened.opened)]));
      },
      get isFinished() {
        return isFinished;
      },
      isRepeated: true,
    };
  }

  /** Where masks are narrower than the ring of comparisons, shares are residues modulo 2^maskBits. */
  #shareBits(bits: number): number {
    return sharesRing(bits, this.#scheme.maskBits ?? 0);
  }

  #sharesOf({ node, parent, sibling }: SharedNode): NodeShares {
    const own = this.#shares.get(node);
    const isDerived = sibling > 0;
    if (own !== undefined && !isDerived) {
      if (own.candidates > 0) return own;
      throw new TandemError("PROTOCOL_STATE", `node ${node} has no candidates to compare`);
    }
    const { current } = this.#attempt.trees;
    current.checkDerived(parent, node, sibling);
    const [above, beside] = [this.#shares.get(parent), this.#shares.get(sibling)];
    const derived = above && beside && derivedShares(above, beside);
    if (own !== undefined || !isDerived || !derived || derived.candidates === 0)
      throw new TandemError("PROTOCOL_STATE", `node ${node} is to be compared, but its candidates were not requested`);
    return derived;
  }

  /** Shares live until their tree ends. */
  #enter(tree: number): void {
    if (tree === this.#tree) return;
    this.#tree = tree;
    this.#shares.clear();
    this.#compared.clear();
  }
}

function comparedBefore(tree: number, node: number): TandemError {
  return new TandemError("PROTOCOL_STATE", `the candidates of node ${node} of tree ${tree} were compared before`);
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

function fromBase64(text: string): Uint8Array {
  return Buffer.from(text, "base64");
}

async function nextOf(messages: AsyncIterator<ActiveMaximum>): Promise<ActiveMaximum> {
  const next = await messages.next();
  if (next.done === true) throw new TandemError("PROTOCOL_STATE", "a comparison that ends too early");
  return next.value;
}
