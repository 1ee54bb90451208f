/** Deviations of a bank or a shop in tests (verified-job.ts). */
import { create } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { TandemError } from "../../src/base/error.ts";
import type { QuantisedGradients } from "../../src/base/gradients/quantised-gradients.ts";
import type { BinnedFeature } from "../../src/gbdt/split/binning.ts";
import type { PassiveAnswers } from "../../src/protocol/passive/role.ts";
import type { SentActive, SentPassive } from "../../src/scheme/sent-scheme.ts";
import { isSet } from "../../src/wire/bitmap.ts";
import {
  type ActiveNode,
  ActiveNodeSchema,
  ActiveSplitDecisionSchema,
} from "../../src/wire/generated/tandem/v1/tandem_pb.ts";
import type { PassivePeer } from "../../src/wire/peer.ts";
import type { FailedAttempt } from "./verified-job.ts";

/** Swaps a member and a non-member; as long as there are two such in whole bytes. */
function swapped(bitmap: Uint8Array): Uint8Array {
  const size = 8 * (bitmap.length - 1);
  const bits = Array.from({ length: Math.max(0, size) }, (_, i) => isSet(bitmap, i));
  const [one, other] = [bits.indexOf(true), bits.indexOf(false)];
  const changed = bitmap.slice();
  if (one >= 0 && other >= 0) for (const i of [one, other]) changed[i >> 3] ^= 1 << (i & 7);
  return changed;
}

/** The bank marks a single instance. */
export function marking(scheme: SentActive): SentActive {
  return markingIn(scheme, null);
}

/** @param round counted from 0; null: in all */
export function markingIn(scheme: SentActive, round: number | null): SentActive {
  let rounds = 0;
  return overridden(scheme, {
    gradients: (layout, gradients, sample, serial) => {
      if (round !== null && rounds++ !== round) return scheme.gradients(layout, gradients, sample, serial);
      const columns = gradients.columns.map((column) => {
        const marked = column.slice();
        marked[40] = column.find((value) => value !== column[40]) ?? 0;
        return marked;
      });
      return scheme.gradients(layout, { ...gradients, columns } as QuantisedGradients, sample, serial);
    },
  });
}

/** Shop leaves an instance out at every node below the root. */
export function forgetting(scheme: SentPassive): SentPassive {
  return overridden(scheme, {
    sums: (task, message) =>
      scheme.sums(task.node === 0 ? task : { ...task, positions: task.positions.subarray(1) }, message),
  });
}

/** Swaps two instances of a node, of either label, in shop's first column while it sums. */
export function confusing(scheme: SentPassive, labels: Float64Array, node: number): SentPassive {
  let column = new Uint16Array(0);
  return overridden(scheme, {
    setUp: (message, job) => {
      const [first, ...others] = job.columns.bins;
      column = first.slice(); // visible to the summation only
      return scheme.setUp(message, { ...job, columns: { ...job.columns, bins: [column, ...others] } });
    },
    sums: async function* (task, message) {
      const [payer, defaulter] = [0, 1].map((label) => task.positions.find((i) => labels[i] === label) ?? 0);
      const honest = column.slice();
      if (task.node === node) column.set(exchange(column, payer, defaulter));
      yield* scheme.sums(task, message);
      column.set(honest);
    },
  });
}

function exchange<Column extends Uint8Array | Uint16Array>(bins: Column, one: number, other: number): Column {
  const changed = bins.slice() as Column;
  [changed[one], changed[other]] = [bins[other], bins[one]];
  return changed;
}

/** Who is in the children of nodes that shop has not split: there it cannot know better. */
export function otherMembers(peer: PassivePeer): PassivePeer {
  const ofShop = new Set<string>();
  return {
    ...peer,
    splits: (request, options) => {
      for (const { node } of request.decisions ?? []) ofShop.add(`${request.tree}/${node}`);
      return peer.splits(request, options);
    },
    histograms: (nodes, options) =>
      peer.histograms(
        otherRequests(nodes, ({ tree, members }) => members !== undefined && !ofShop.has(`${tree}/${members.parent}`)),
        options,
      ),
  };
}

/** Everywhere. */
export function anyMembers(peer: PassivePeer): PassivePeer {
  return {
    ...peer,
    histograms: (nodes, options) =>
      peer.histograms(
        otherRequests(nodes, () => true),
        options,
      ),
  };
}

type Requests = Parameters<PassivePeer["histograms"]>[0];

async function* otherRequests(nodes: Requests, isChanged: (request: ActiveNode) => boolean): Requests {
  for await (const request of nodes) {
    const copy = create(ActiveNodeSchema, request);
    if (copy.members !== undefined && isChanged(copy)) copy.members.members = swapped(copy.members.members);
    yield copy;
  }
}

/** The bank reads the answer about the root of a tree, and leaves. */
export function leavingAt(tree: number): Required<Pick<FailedAttempt, "peer" | "fails">> {
  return leavingWhen((request) => request.tree === tree);
}

/** The bank leaves after the answers to such a request. */
export function leavingWhen(
  isLast: (request: Pick<ActiveNode, "tree" | "node">) => boolean,
): Required<Pick<FailedAttempt, "peer" | "fails">> {
  return {
    fails: /^PARTY_LOST: party shop: the bank has left$/,
    peer: (peer) => ({
      ...peer,
      async *histograms(nodes, options) {
        let isAsked = false;
        async function* watched(): typeof nodes {
          for await (const request of nodes) {
            isAsked ||= isLast(create(ActiveNodeSchema, request));
            yield request;
          }
        }
        yield* peer.histograms(watched(), options);
        if (isAsked) throw new TandemError("PARTY_LOST", "the bank has left");
      },
    }),
  };
}

/** Of a bank that sends other gradients in a later attempt. */
export const otherGradients =
  /^PROTOCOL_STATE: .*(gradients of the round of tree \d are not those that were received|with other gradients) before/;

/** Connections that are lost at the end of a tree: with telecom before or after it is signed, with shop afterwards. */
export function lostAtEnd(telecomSigns: boolean): FailedAttempt {
  let signed = (): void => {};
  const isSigned = new Promise<void>((resolve) => (signed = resolve));
  const lost = (): TandemError => new TandemError("PARTY_LOST", "the connection is lost");
  return {
    fails: /^PARTY_LOST: party (shop|telecom): the connection is lost$/,
    peer: (peer) => ({
      ...peer,
      finishTree: async (...call) => {
        await peer.finishTree(...call);
        signed();
        throw lost();
      },
    }),
    toTelecom: (peer) => ({
      ...peer,
      finishTree: async (...call) => {
        if (telecomSigns) await peer.finishTree(...call);
        await isSigned;
        throw lost();
      },
    }),
  };
}

/** The bank names the candidate beside the best one. */
export function otherCandidate(peer: PassivePeer): PassivePeer {
  return {
    ...peer,
    splits: ({ tree, decisions = [] }, options) => {
      const changed = decisions.map((decision) => {
        const { named, ...rest } = create(ActiveSplitDecisionSchema, decision);
        return { ...rest, named: named.case === "candidate" ? { ...named, value: named.value ^ 1 } : named };
      });
      return peer.splits({ ...(tree === undefined ? {} : { tree }), decisions: changed }, options);
    },
  };
}

/** The bank asks for the order of nodes where nothing ties. */
export function askingOrders(peer: PassivePeer): PassivePeer {
  async function* splits(...[request, options]: Parameters<PassivePeer["splits"]>): ReturnType<PassivePeer["splits"]> {
    const { tree = 0, decisions = [] } = request;
    const nodes = decisions.map(({ node = 0 }) => node);
    for await (const piece of peer.order({ tree, nodes }, options)) expect(piece.ranks.length).toBeGreaterThan(0);
    yield* peer.splits(request, options);
  }
  return { ...peer, splits };
}

/** Shop prefers the last of its candidates that tie. */
export function otherOrder(answers: PassiveAnswers): PassiveAnswers {
  return {
    ...answers,
    async *order(request) {
      for await (const piece of answers.order(request)) yield { ...piece, ranks: reversed(piece.ranks ?? []) };
    },
  };
}

function reversed(ranks: readonly number[]): number[] {
  return ranks.map((rank) => ranks.length - 1 - rank);
}

/** Swaps two instances in shop's second column. */
export const exchanged =
  (one: number, other: number) =>
  (features: readonly BinnedFeature[]): readonly BinnedFeature[] =>
    features.map((feature, i) => (i === 1 ? { ...feature, bins: exchange(feature.bins, one, other) } : feature));

export function otherOutcome(answers: PassiveAnswers): PassiveAnswers {
  return {
    ...answers,
    async *splits(request) {
      for await (const split of answers.splits(request))
        yield { ...split, leftMembers: swapped(split.leftMembers ?? new Uint8Array(0)) };
    },
  };
}

/** An object with some methods of its own; the others are the original's. */
export function overridden<T extends object>(original: T, own: Partial<T>): T {
  return new Proxy(original, {
    get(target, name) {
      if (Object.hasOwn(own, name)) return own[name as keyof T];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
