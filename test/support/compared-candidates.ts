/** Random nodes whose candidates two parties compare, the rule in plain integers, and a run of both ends. */
import { osRandom, type SeededRandom } from "../../src/base/random.ts";
import type { MaximumKernel } from "../../src/crypto/maximum/kernel.ts";
import {
  type ActiveMaximumSession,
  type MaximumTerms,
  type NodeMaximum,
  type NodeTotals,
  nothingAllowed,
  type PassiveMaximum,
  type PassiveMaximumSession,
  type Requests,
  ringBits,
  type SharedSums,
} from "../../src/crypto/maximum/maximum.ts";
import { activeMaximumSetUp, passiveMaximumSetUp } from "../../src/crypto/maximum/session.ts";
import { residuesOf } from "../../src/crypto/maximum/wide-residues.ts";

export interface PlainNode extends NodeTotals {
  readonly x: readonly bigint[];
  readonly y: readonly bigint[];
}

/** The rule of maximum.ts: the place of the winner, undefined if none beats the rival. */
export function plainWinner({ gradient, hessian, minimum, rival, x, y }: PlainNode, bits: number): number | undefined {
  const shift = BigInt(bits - hessian.toString(2).length);
  let [bestSquare, bestProduct] = [rival?.square ?? 0n, rival?.product ?? 1n];
  let winner: number | undefined;
  for (const [place, sum] of x.entries()) {
    const u = ((hessian * sum - gradient * y[place]) << shift) >> BigInt(bits); // shifts of BigInt round down
    let [square, product] = [u * u, y[place] * (hessian - y[place])];
    if (product < minimum) [square, product] = [0n, 1n];
    if (square * bestProduct > bestSquare * product) [winner, bestSquare, bestProduct] = [place, square, product];
  }
  return winner;
}

function below(random: SeededRandom, limit: bigint): bigint {
  const high = (BigInt(random.uint32()) << 32n) | BigInt(random.uint32());
  return ((high << 32n) | BigInt(random.uint32())) % limit;
}

const kinds = ["logistic", "any", "ties", "extremes"] as const;

/** A node of one of four kinds: as logistic loss makes them, any sums within bounds, many equal ones, and extremes. */
export function randomNode(random: SeededRandom, index: number, bits: number, count: number): PlainNode {
  const top = 1n << BigInt(bits);
  const kind = bits < 16 && index % 4 === 0 ? "any" : kinds[index % 4];
  if (kind === "logistic") return logisticNode(random, bits, count);
  let hessian = kind === "extremes" ? top - 1n - below(random, 2n) : 1n + below(random, top - 1n);
  if (kind === "any" && random.below(2) === 0)
    hessian = 1n + (below(random, 1n << BigInt(1 + random.below(bits))) % (top - 1n));
  const half = random.below(3) === 0 ? 0n : below(random, hessian / BigInt(1 + random.below(8)) + 1n);
  const side = top - 1n;
  const gradient = kind === "extremes" ? [side, -side, 0n][random.below(3)] : below(random, 2n * side + 1n) - side;
  const [low, high] = gradient > 0n ? [gradient - side, side] : [-side, gradient + side];
  const distinct = kind === "ties" ? 1 + random.below(5) : count;
  const [x, y]: bigint[][] = [[], []];
  for (let c = 0; c < count; c++) {
    if (c >= distinct) {
      const like = random.below(distinct);
      // The other side of the same split has the same gain.
      const isMirrored = random.below(4) === 0;
      x.push(isMirrored ? gradient - x[like] : x[like]);
      y.push(isMirrored ? hessian - y[like] : y[like]);
    } else if (kind === "extremes") {
      x.push([low, high, 0n][random.below(3)]);
      y.push([0n, hessian, hessian / 2n, 1n][random.below(4)]);
    } else {
      x.push(low + below(random, high - low + 1n));
      y.push(below(random, hessian + 1n));
    }
  }
  return { gradient, hessian, minimum: leastProduct(half, hessian, bits), rival: rivalOf(random, bits), x, y };
}

function logisticNode(random: SeededRandom, bits: number, count: number): PlainNode {
  const top = 1n << BigInt(bits);
  const lambda = 256n;
  const rows = 64n + below(random, (top >> 8n) - 64n);
  let h = rows * BigInt(10 + random.below(50));
  if (h + 2n * lambda >= top) h = top - 1n - 2n * lambda;
  const bound = top / 2n - 1n;
  const within = (value: bigint): bigint => (value > bound ? bound : value < -bound ? -bound : value);
  const gradient = within(below(random, rows * 100n) - rows * 50n);
  const [x, y]: bigint[][] = [[], []];
  for (let c = 0; c < count; c++) {
    const share = BigInt(random.below(random.below(4) === 0 ? 10 : 1000));
    y.push((h * share) / 1000n + lambda);
    x.push(within((gradient * share) / 1000n + below(random, rows * 16n + 1n) - rows * 8n));
  }
  const hessian = h + 2n * lambda;
  return { gradient, hessian, minimum: leastProduct(2n * lambda, hessian, bits), rival: rivalOf(random, bits), x, y };
}

function leastProduct(half: bigint, hessian: bigint, bits: number): bigint {
  if (hessian < 2n * half) return nothingAllowed(bits);
  const least = half * (hessian - half);
  return least > 0n ? least : 1n;
}

/** None, one that is hard to beat or easy, or one of the least or largest numbers. */
function rivalOf(random: SeededRandom, bits: number): PlainNode["rival"] {
  const [square, product] = [1n << BigInt(2 * bits), (1n << BigInt(2 * bits - 2)) - 1n];
  const which = random.below(6);
  if (which > 2) return undefined;
  if (which === 0) return { square: below(random, square + 1n), product: 1n + below(random, product) };
  if (which === 1) return { square: below(random, 1n << BigInt(bits)), product: 1n + below(random, product) };
  return { square: [0n, square][random.below(2)], product: [1n, product][random.below(2)] };
}

export interface Sessions {
  readonly active: ActiveMaximumSession;
  readonly passive: PassiveMaximumSession;
}

export interface Traffic {
  readonly requests: Uint8Array[];
  readonly answers: Uint8Array[];
}

/** Runs requests to their end. */
export async function converse(
  active: Requests,
  passive: { answer(request: Uint8Array): Promise<Uint8Array> },
): Promise<Traffic> {
  const traffic: Traffic = { requests: [], answers: [] };
  for (let request: Uint8Array | undefined = await active.first(); request !== undefined;) {
    traffic.requests.push(request);
    const answer = await passive.answer(request);
    traffic.answers.push(answer);
    request = await active.next(answer);
  }
  return traffic;
}

export async function openSessions(
  kernel: MaximumKernel,
  random = { active: osRandom, passive: osRandom },
  candidatesAtOnce?: number,
): Promise<Sessions> {
  const active = activeMaximumSetUp({ kernel, random: random.active, candidatesAtOnce });
  const passive = passiveMaximumSetUp({ kernel, random: random.passive, candidatesAtOnce });
  await converse(active, passive);
  return { active: active.session(), passive: passive.session() };
}

export function termsOf(nodes: readonly PlainNode[], bits: number, shareBits = ringBits(bits)): MaximumTerms {
  return { bits, shareBits, nodes: nodes.map(({ x }) => ({ candidates: x.length })) };
}

/** Shares of all sums: the passive party's are drawn. */
export function dealt(
  nodes: readonly PlainNode[],
  bits: number,
  random: SeededRandom,
  shareBits = ringBits(bits),
): { readonly active: SharedSums; readonly passive: SharedSums } {
  const modulus = 1n << BigInt(shareBits);
  const split = (sums: readonly bigint[]): [bigint[], bigint[]] => {
    const masks = sums.map(() => below(random, modulus));
    return [sums.map((sum, i) => BigInt.asUintN(shareBits, sum - masks[i])), masks];
  };
  const [activeX, passiveX] = split(nodes.flatMap(({ x }) => x)).map(residuesOf);
  const [activeY, passiveY] = split(nodes.flatMap(({ y }) => y)).map(residuesOf);
  return {
    active: { gradients: activeX, hessians: activeY },
    passive: { gradients: passiveX, hessians: passiveY },
  };
}

/** A batch of both ends. @param shareBits of the ring of shares; left out: that of comparisons */
export async function compared(
  { active, passive }: Sessions,
  batch: number,
  nodes: readonly PlainNode[],
  bits: number,
  random: SeededRandom,
  shareBits?: number,
): Promise<{ result: readonly (NodeMaximum | undefined)[]; passive: PassiveMaximum; traffic: Traffic }> {
  const terms = termsOf(nodes, bits, shareBits);
  const sums = dealt(nodes, bits, random, shareBits);
  const asking = active.begin(batch, terms, { totals: nodes, sums: sums.active });
  const answering = passive.begin(batch, terms, { sums: sums.passive });
  const traffic = await converse(asking, answering);
  return { result: asking.result(), passive: answering, traffic };
}

/** The nodes whose winner is not that of the rule, each described. */
export function wrongNodes(
  nodes: readonly PlainNode[],
  bits: number,
  { result, passive }: Pick<Awaited<ReturnType<typeof compared>>, "result" | "passive">,
): string[] {
  return nodes.flatMap((node, i) => {
    const expected = plainWinner(node, bits);
    const found = result[i];
    const shown = found && `${found.gradient} ${found.hessian} at ${passive.placeOf(i, found.placeShare)}`;
    const wanted = expected === undefined ? undefined : `${node.x[expected]} ${node.y[expected]} at ${expected}`;
    return shown === wanted ? [] : [`B ${bits}, node ${i} of ${node.x.length}: ${wanted} expected, ${shown} found`];
  });
}
