/** What it costs to compare the candidates of a node on shares: measured by comparing one, in this process. */
import { osRandom } from "../../base/random.ts";
import type { MaximumTerms, Requests } from "../../crypto/maximum/maximum.ts";
import { selectMaximumKernel } from "../../crypto/maximum/select-kernel.ts";
import { activeMaximumSetUp, passiveMaximumSetUp } from "../../crypto/maximum/session.ts";
import { newShares } from "../candidates/node-masks.ts";

/** Of a node. Nodes of a level are compared at once: their bytes and times add up, and requests do not. */
export interface ComparisonCost {
  readonly requests: number;
  readonly bytesToPassive: number;
  readonly bytesToActive: number;
  /** CPU time of either party. */
  readonly seconds: number;
}

/** More candidates take as many times longer. */
const measuredMax = 2000;

/** @param terms without nodes @param candidates of a node */
export async function comparisonCost(terms: Omit<MaximumTerms, "nodes">, candidates: number): Promise<ComparisonCost> {
  const count = Math.min(measuredMax, Math.max(1, candidates));
  const tools = { kernel: selectMaximumKernel(1), random: osRandom };
  const [activeSetUp, passiveSetUp] = [activeMaximumSetUp(tools), passiveMaximumSetUp(tools)];
  await exchange(activeSetUp, passiveSetUp);
  const all = { ...terms, nodes: [{ candidates: count }] };
  const sums = { gradients: newShares(count), hessians: newShares(count) };
  const totals = [{ gradient: 0n, hessian: 1n, minimum: 1n }];
  const [active, passive] = [activeSetUp.session(), passiveSetUp.session()];
  const compare = (batch: number): ReturnType<typeof exchange> =>
    exchange(active.begin(batch, all, { totals, sums }), passive.begin(batch, all, { sums }));
  await compare(1); // the first one takes about twice as long: code is compiled, and memory is new
  const before = process.cpuUsage();
  const sent = await compare(2);
  const { user, system } = process.cpuUsage(before);
  const times = candidates / count;
  return {
    requests: sent.requests,
    bytesToPassive: times * sent.bytesToPassive,
    bytesToActive: times * sent.bytesToActive,
    seconds: (times * (user + system)) / 2e6,
  };
}

async function exchange(
  active: Requests,
  passive: { answer(request: Uint8Array): Promise<Uint8Array> },
): Promise<Omit<ComparisonCost, "seconds">> {
  let [requests, bytesToPassive, bytesToActive] = [0, 0, 0];
  for (let request: Uint8Array | undefined = await active.first(); request !== undefined;) {
    const answer = await passive.answer(request);
    requests += 1;
    bytesToPassive += request.length;
    bytesToActive += answer.length;
    request = await active.next(answer);
  }
  return { requests, bytesToPassive, bytesToActive };
}
