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
  KeptWinners,
  NodeMaximum,
  NodeTotals,
  PassiveMaximum,
  PassiveMaximumInput,
  PassiveMaximumSession,
  PassiveMaximumSetUp,
  SharedSums,
} from "./maximum.ts";
import { checkTerms, countsFor, partsOf, transferCounts, widthsOf } from "./plan.ts";
import { Tournament, type Winners } from "./tournament.ts";
import { type BatchTransfers, TransferSession } from "./transfers.ts";
import { countOf, joined, part } from "./wide-residues.ts";
import {
  openedBytes,
  openedShares,
  ownShares,
  placeFrom,
  placesOf,
  type Seal,
  sealed,
  sealedBytes,
  winnersFrom,
} from "./winners.ts";

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

const nothing = new Uint8Array(0);
const keepsNothing = (): Promise<void> => Promise.resolve();
/** Of a batch that is never repeated. */
const drawnSeal = (random: SecureRandom): Seal => ({ key: random.fill(new Uint8Array(32)), context: nothing });
const allBits = ({ gradients }: SharedSums): Uint8Array => new Uint8Array(countOf(gradients)).fill(1);

interface Compared {
  readonly winners: Winners;
  /** The passive party's shares of the winners' sums. */
  readonly opened: Uint8Array;
}

/** A party's own input of a batch. */
interface OwnInput {
  readonly sums: SharedSums;
  /** Of the active party. */
  readonly totals: readonly NodeTotals[];
  readonly seal: Seal | null;
  /** Of the passive party. */
  readonly offered: Uint8Array;
  readonly keep: (kept: KeptWinners) => Promise<void>;
}

/** The steps of a batch: parts one after the other; then both parties' shares are kept, and the sums opened. */
async function* compare(
  setting: Setting,
  transfers: BatchTransfers,
  terms: MaximumTerms,
  { sums, totals, seal, offered, keep }: OwnInput,
): Steps<Compared> {
  const { isActive, random, candidatesAtOnce } = setting;
  const { nodes } = terms;
  const widths = widthsOf(terms);
  const gates = new Gates(isActive, transfers, random);
  const parts: Winners[] = [];
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
    parts.push(winners);
    first = end;
  }
  const winners = {
    gradients: joined(parts.map(({ gradients }) => gradients)),
    hessians: joined(parts.map(({ hessians }) => hessians)),
    places: joined(parts.map(({ places }) => places)),
  };
  const own = seal === null ? nothing : sealed(ownShares(winners, terms), seal, random);
  const theirs = yield { send: own, expects: isActive ? 0 : sealedBytes(terms) };
  const opening = isActive ? nothing : openedShares(winners, terms);
  if (!isActive) await keep({ sealed: theirs, opened: opening, places: placesOf(winners, terms) });
  const opened = yield { send: opening, expects: isActive ? openedBytes(terms) : 0, isLast: true };
  return { winners, opened };
}

class ActiveBatch implements ActiveMaximum {
  readonly #end: FlightEnd<Compared>;
  readonly #terms: MaximumTerms;

  constructor(end: FlightEnd<Compared>, terms: MaximumTerms) {
    this.#end = end;
    this.#terms = terms;
  }

  first(): Promise<Uint8Array> {
    return this.#end.first();
  }

  next(answer: Uint8Array): Promise<Uint8Array | undefined> {
    return nextOf(this.#end, answer);
  }

  result(): (NodeMaximum | undefined)[] {
    const { winners, opened } = this.#end.result;
    return winnersFrom(this.#terms, ownShares(winners, this.#terms), opened);
  }
}

class PassiveBatch implements PassiveMaximum {
  readonly #end: FlightEnd<Compared>;
  readonly #terms: MaximumTerms;
  readonly #candidatesAtOnce: number | undefined;

  constructor(end: FlightEnd<Compared>, terms: MaximumTerms, { candidatesAtOnce }: MaximumTools) {
    this.#end = end;
    this.#terms = terms;
    this.#candidatesAtOnce = candidatesAtOnce;
  }

  get isFinished(): boolean {
    return this.#end.isFinished;
  }

  answer(request: Uint8Array): Promise<Uint8Array> {
    return this.#end.message(request, false);
  }

  placeOf(node: number, placeShare: number): number {
    const places = placesOf(this.#end.result.winners, this.#terms);
    return placeFrom(this.#terms, places, node, placeShare, this.#candidatesAtOnce);
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
        begin(batch, terms, { totals, sums, seal = drawnSeal(tools.random) }: ActiveMaximumInput) {
          checkInput(terms, sums);
          checkTotals(terms, totals);
          const own = { sums, totals, seal, offered: nothing, keep: keepsNothing };
          return new ActiveBatch(new FlightEnd(compare(setting, transfers.batch(batch), terms, own)), terms);
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
        begin(batch, terms, { sums, offered = allBits(sums), keep = keepsNothing }: PassiveMaximumInput) {
          checkInput(terms, sums);
          assert(offered.length === countOf(sums.gradients), "a bit for each candidate");
          const own = { sums, totals: [], seal: null, offered, keep };
          return new PassiveBatch(new FlightEnd(compare(setting, transfers.batch(batch), terms, own)), terms, tools);
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
