/**
 * Both ends of the comparison of candidates: the set-up of a connection's session, and its batches. The set-up makes
 * base transfers in both directions, each extended in the other:
 *
 *   active                                    passive
 *     own key                       -->         own key, points for the active party's key
 *                                   <--
 *     points, sums of own trees     -->         sums of own trees
 *                                   <--
 */
import { assert } from "../../base/assert.ts";
import type { SecureRandom } from "../../base/random.ts";
import { ggmKeys, puncturedKeys, sumsBytes } from "../transfer/all-but-one.ts";
import { baseReceiverKeys, baseSenderKeys, choicesBytes, newAgreementKey } from "../transfer/base-ot.ts";
import { pointBytes } from "../edwards25519.ts";
import { FlightEnd, type Steps } from "./flights.ts";
import { Gates } from "./gates.ts";
import type { MaximumKernel } from "./kernel.ts";
import type {
  ActiveMaximum,
  ActiveMaximumInput,
  ActiveMaximumSession,
  ActiveMaximumSetUp,
  MaximumTerms,
  NodeMaximum,
  NodeTotals,
  PassiveMaximum,
  PassiveMaximumInput,
  PassiveMaximumSession,
  PassiveMaximumSetUp,
  Residues,
  SharedSums,
} from "./maximum.ts";
import { BitReader, BitWriter, packedBytes } from "./packed-bits.ts";
import { checkTerms, countsFor, partsOf, transferCounts, widthsOf } from "./plan.ts";
import { placeBits, Tournament, type Winners } from "./tournament.ts";
import { type BatchTransfers, refused, TransferSession } from "./transfers.ts";
import { countOf, integerAt, part, wordMasks, wordsEach } from "./wide-residues.ts";

/** What a session computes with. */
interface MaximumTools {
  readonly kernel: MaximumKernel;
  readonly random: SecureRandom;
  /** The most candidates of nodes that are compared at once: the same at both ends. */
  readonly candidatesAtOnce?: number | undefined;
}

/** Separates the keys of both directions, and from those of other transfers. */
const contexts = { active: "candidates, active sends", passive: "candidates, passive sends" };
type Setting = MaximumTools & { readonly isActive: boolean };

/** @throws TandemError PROTOCOL_STATE through its steps, for keys, points or sums that are not valid */
async function* setUp({ kernel, random, isActive }: Setting): Steps<TransferSession> {
  const key = newAgreementKey(random);
  const [own, other] = isActive ? (["active", "passive"] as const) : (["passive", "active"] as const);
  const theirs = yield { send: key.publicKey, expects: pointBytes };
  const chosen = await baseReceiverKeys(theirs, contexts[own], random);
  const points = yield { send: chosen.points, expects: choicesBytes };
  const { leaves, sums } = ggmKeys(await baseSenderKeys(key, points, contexts[other]), random);
  const theirSums = yield { send: sums, expects: sumsBytes };
  return new TransferSession(kernel, { leaves, punctured: puncturedKeys(chosen, theirSums) });
}

const noBits = new Uint8Array(0);
const allBits = ({ gradients }: SharedSums): Uint8Array => new Uint8Array(countOf(gradients)).fill(1);

/** A part's winners, and how its places are shared. */
interface Part {
  readonly winners: Winners;
  readonly placeBits: number;
  readonly nodeCount: number;
}

interface Compared {
  readonly parts: readonly Part[];
  /** The passive party's shares of the winners' sums. */
  readonly opened: Uint8Array;
}

/** The steps of a batch: parts one after the other, then the winners' sums are opened. */
async function* compare(
  setting: Setting,
  transfers: BatchTransfers,
  terms: MaximumTerms,
  sums: SharedSums,
  offered: Uint8Array,
  totals: readonly NodeTotals[],
): Steps<Compared> {
  const { isActive, random, candidatesAtOnce } = setting;
  const { bits, nodes } = terms;
  const widths = widthsOf(terms);
  const gates = new Gates(isActive, transfers, random);
  const parts: Part[] = [];
  let first = 0;
  for (const { from, to } of partsOf(nodes, candidatesAtOnce)) {
    const counts = nodes.slice(from, to).map(({ candidates }) => candidates);
    const end = counts.reduce((sum, count) => sum + count, first);
    const own = { gradients: part(sums.gradients, first, end), hessians: part(sums.hessians, first, end) };
    yield* transfers.make(countsFor(isActive, transferCounts(widths, counts)));
    const winners = yield* new Tournament(
      gates,
      widths,
      counts,
      own,
      offered.subarray(first, end),
      totals.slice(from, to),
    ).winners();
    transfers.assertUsed();
    parts.push({ winners, placeBits: placeBits(counts), nodeCount: counts.length });
    first = end;
  }
  const openedBits = nodes.length * (2 * bits + 1);
  const opened = yield {
    send: isActive ? new Uint8Array(0) : openedShares(parts, bits, openedBits),
    expects: isActive ? packedBytes(openedBits) : 0,
    isLast: true,
  };
  return { parts, opened };
}

function openedShares(parts: readonly Part[], bits: number, bitCount: number): Uint8Array {
  const writer = new BitWriter(bitCount);
  const put = (values: Residues, index: number, width: number): void => {
    const masks = wordMasks(width);
    for (let w = 0; w < wordsEach; w++) writer.put(values[wordsEach * index + w], 32 - Math.clz32(masks[w]));
  };
  for (const { winners, nodeCount } of parts)
    for (let node = 0; node < nodeCount; node++) {
      put(winners.gradients, node, bits + 1);
      put(winners.hessians, node, bits);
    }
  return writer.bytes();
}

class ActiveBatch implements ActiveMaximum {
  readonly #end: FlightEnd<Compared>;
  readonly #bits: number;

  constructor(end: FlightEnd<Compared>, bits: number) {
    this.#end = end;
    this.#bits = bits;
  }

  first(): Promise<Uint8Array> {
    return this.#end.first();
  }

  next(answer: Uint8Array): Promise<Uint8Array | undefined> {
    return nextOf(this.#end, answer);
  }

  result(): (NodeMaximum | undefined)[] {
    const { parts, opened } = this.#end.result;
    const reader = new BitReader(opened);
    const [x, y] = [this.#bits + 1, this.#bits];
    return parts.flatMap(({ winners, nodeCount }) =>
      Array.from({ length: nodeCount }, (_, node): NodeMaximum | undefined => {
        const gradient = opening(reader, winners.gradients, node, x);
        const hessian = opening(reader, winners.hessians, node, y);
        if (hessian === 0n) return undefined; // the rival's: that of a candidate which is allowed is positive
        const placeShare = Number(integerAt(winners.places, node));
        return { gradient: BigInt.asIntN(x, gradient), hessian, placeShare };
      }),
    );
  }
}

function opening(reader: BitReader, shares: Residues, node: number, width: number): bigint {
  const low = BigInt(reader.take(Math.min(width, 32)));
  const high = width > 32 ? BigInt(reader.take(width - 32)) : 0n;
  return BigInt.asUintN(width, integerAt(shares, node) + (high << 32n) + low);
}

class PassiveBatch implements PassiveMaximum {
  readonly #end: FlightEnd<Compared>;
  readonly #terms: MaximumTerms;

  constructor(end: FlightEnd<Compared>, terms: MaximumTerms) {
    this.#end = end;
    this.#terms = terms;
  }

  get isFinished(): boolean {
    return this.#end.isFinished;
  }

  answer(request: Uint8Array): Promise<Uint8Array> {
    return this.#end.message(request, false);
  }

  placeOf(node: number, placeShare: number): number {
    if (!Number.isSafeInteger(node) || node < 0 || node >= this.#terms.nodes.length)
      throw refused("a winner's place is asked of a node that is not in the batch");
    let index = node;
    for (const { winners, placeBits: bits, nodeCount } of this.#end.result.parts) {
      if (index >= nodeCount) {
        index -= nodeCount;
        continue;
      }
      const isShare = Number.isSafeInteger(placeShare) && placeShare >= 0 && placeShare < 2 ** bits;
      const place = (Number(integerAt(winners.places, index)) + placeShare) % 2 ** bits;
      if (isShare && place < this.#terms.nodes[node].candidates) return place;
    }
    throw refused("a share of a winner's place makes no place");
  }
}

async function nextOf<T>(end: FlightEnd<T>, answer: Uint8Array): Promise<Uint8Array | undefined> {
  const request = await end.message(answer, true);
  return end.isFinished && request.length === 0 ? undefined : request;
}

export function activeMaximumSetUp(tools: MaximumTools): ActiveMaximumSetUp {
  const setting = { ...tools, isActive: true };
  const end = new FlightEnd(setUp(setting));
  return {
    first: () => end.first(),
    next: (answer) => nextOf(end, answer),
    session: (): ActiveMaximumSession => {
      const transfers = end.result;
      return {
        begin(batch, terms, { totals, sums }: ActiveMaximumInput) {
          checkInput(terms, sums);
          checkTotals(terms, totals);
          return new ActiveBatch(
            new FlightEnd(compare(setting, transfers.batch(batch), terms, sums, noBits, totals)),
            terms.bits,
          );
        },
      };
    },
  };
}

export function passiveMaximumSetUp(tools: MaximumTools): PassiveMaximumSetUp {
  const setting = { ...tools, isActive: false };
  const end = new FlightEnd(setUp(setting));
  return {
    answer: (request) => end.message(request, false),
    session: (): PassiveMaximumSession => {
      const transfers = end.result;
      return {
        begin(batch, terms, { sums, offered = allBits(sums) }: PassiveMaximumInput) {
          checkInput(terms, sums);
          assert(offered.length === countOf(sums.gradients), "a bit for each candidate");
          return new PassiveBatch(
            new FlightEnd(compare(setting, transfers.batch(batch), terms, sums, offered, [])),
            terms,
          );
        },
      };
    },
  };
}

function checkInput(terms: MaximumTerms, { gradients, hessians }: SharedSums): void {
  checkTerms(terms);
  const count = terms.nodes.reduce((sum, { candidates }) => sum + candidates, 0);
  assert(countOf(gradients) === count && countOf(hessians) === count, "a share of each sum");
}

function checkTotals({ bits, nodes }: MaximumTerms, totals: readonly NodeTotals[]): void {
  const limit = 2n ** BigInt(bits);
  const products = 2n ** BigInt(2 * bits - 2);
  assert(totals.length === nodes.length, "totals of each node");
  for (const { gradient, hessian, minimum, rival } of totals) {
    assert(hessian >= 1n && hessian < limit && gradient < limit && gradient > -limit, "sums of a node below 2^B");
    assert(minimum >= 1n && minimum < products, "a minimum of products of sums");
    if (rival === undefined) continue;
    const { square, product } = rival;
    assert(square >= 0n && square <= limit * limit && product >= 1n && product < products, "a rival by the same rule");
  }
}
