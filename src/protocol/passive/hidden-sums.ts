/**
 * A passive party whose sums are hidden. It masks them, keeps its shares until the tree ends, and finds the best
 * candidate of each node together with the active party. It learns no winner until the active party sends its share of
 * the place: then this candidate splits the node.
 *
 * A node is compared once per attempt: whatever the active party brings as totals of a node, it learns one candidate of
 * it.
 *
 * @reveals active: of each node the sums of g and h of one side of its best candidate, where sums are hidden
 */
import { createHash } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { TandemError } from "../../base/error.ts";
import { NodeMasks } from "../../scheme/candidates/node-masks.ts";
import type { NodeTask } from "../../scheme/candidates/node-task.ts";
import { derivedShares, type NodeShares } from "../../scheme/maximum/node-shares.ts";
import { type PassiveMaximum, PassiveMaximums } from "../../scheme/maximum/passive-maximum.ts";
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
import { checkNodeList } from "./split-decisions.ts";

/** A node whose best candidate was found. */
interface Compared {
  readonly batch: PassiveMaximum;
  /** Among the nodes of the batch. */
  readonly index: number;
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
  readonly #compared = new Map<number, Compared>();

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
            yield piece;
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
    const compared = tree === this.#tree ? this.#compared.get(node) : undefined;
    if (compared === undefined || !compared.batch.isFinished || named.case !== "candidate")
      throw new TandemError("PROTOCOL_STATE", `node ${node} is to be split, but its candidates were not compared`);
    const value = compared.batch.placeOf(compared.index, named.value);
    return { ...decision, named: { case: "candidate", value } };
  }

  #begin({ tree, batch, bits, nodes }: MaximumNodes): PassiveMaximum {
    const { course, job, tally } = this.#attempt;
    course.expectTree(tree);
    this.#enter(tree);
    const ids = nodes.map(({ node }) => node);
    checkNodeList(ids, job.agreed);
    if (nodes.length === 0) throw new TandemError("PROTOCOL_STATE", "comparisons of no node");
    const again = ids.find((id) => this.#compared.has(id));
    if (again !== undefined)
      throw new TandemError("PROTOCOL_STATE", `the candidates of node ${again} of tree ${tree} were compared before`);
    const least = bitsFor(sumsMost(job.instanceCount, job.agreed.resolutionBits));
    if (bits < least || bits > bitsMax)
      throw new TandemError("PROTOCOL_STATE", `sums of ${bits} bits; this job has ${least} to ${bitsMax}`);
    const shares = nodes.map((node) => this.#sharesOf(node));
    const { current } = this.#attempt.trees;
    const offered = ids.map((id) => current.task(id).suppressed.map((isSuppressed) => 1 - isSuppressed));
    const begun = this.#maximums.begin(batch, { bits, shareBits: this.#shareBits(bits) }, shares, offered);
    nodes.forEach(({ node, parent, sibling }, index) => {
      this.#shares.set(node, shares[index]);
      this.#compared.set(node, { batch: begun, index });
      if (sibling > 0) tally.see("tree shape", tree, node, parent, sibling);
      tally.see("best candidate", tree, node);
    });
    return begun;
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

async function nextOf(messages: AsyncIterator<ActiveMaximum>): Promise<ActiveMaximum> {
  const next = await messages.next();
  if (next.done === true) throw new TandemError("PROTOCOL_STATE", "a comparison that ends too early");
  return next.value;
}
