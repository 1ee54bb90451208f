/**
 * Passive parties that deviate: what stands between the active party and an honest one changes what passes. Random bits
 * beside sums are the honest party's own: what these change, they change before those are added.
 */
import { power, readInteger, writeInteger } from "../../src/crypto/integers.ts";
import type { PublicKey } from "../../src/crypto/paillier/keys.ts";
import { PaillierPassive } from "../../src/scheme/paillier/passive.ts";
import type { Kernel } from "../../src/crypto/paillier/kernel.ts";
import { sideCounts } from "../../src/scheme/candidates/candidate-plan.ts";
import type { SentTask } from "../../src/scheme/candidates/node-task.ts";
import type { SumsPiece } from "../../src/scheme/scheme.ts";
import { connectInMemory } from "../../src/transport/in-memory.ts";
import type { PassiveService } from "../../src/transport/passive-service.ts";
import { PaillierGradientsSchema } from "../../src/wire/generated/tandem/v1/paillier_pb.ts";
import type { PassiveHistograms, PassiveSplit } from "../../src/wire/generated/tandem/v1/tandem_pb.ts";
import type { PassivePeer } from "../../src/wire/peer.ts";
import { decodeMessage, encodeMessage } from "../../src/wire/scheme-message.ts";

/** What a party was told of its splits: per message and node what was named. */
export type ToldNames = { readonly node: number; readonly position: number | null }[];

/** @param told takes what is named */
export function cheating(
  told: ToldNames,
  change: {
    readonly sums?: (answer: PassiveHistograms) => PassiveHistograms;
    readonly split?: (split: PassiveSplit) => PassiveSplit;
  } = {},
): (name: string, service: PassiveService) => PassivePeer {
  const { sums = (answer) => answer, split = (answer) => answer } = change;
  return (name, service) => {
    const peer = connectInMemory(name, service);
    return {
      ...peer,
      name,
      histograms: (nodes, options) => mapped(peer.histograms(nodes, options), sums),
      splits: (request, options) => {
        for (const { node = 0, named } of request.decisions ?? [])
          told.push({ node, position: named?.case === "candidate" ? (named.value ?? null) : null });
        return mapped(peer.splits(request, options), split);
      },
    };
  };
}

/** Each count so many times; its sums are made by MultiplyingPassive. */
export function multipliedCounts(times: number): (answer: PassiveHistograms) => PassiveHistograms {
  return (answer) => ({ ...answer, counts: answer.counts.map((count) => count * times) });
}

/** Each sum so many times, as if so many had the gradient of each: it takes the gradients so many times. */
export class MultiplyingPassive extends PaillierPassive {
  readonly #key: PublicKey;
  readonly #times: bigint;

  constructor(kernel: Kernel, key: PublicKey, times: number) {
    super(kernel, 1);
    this.#key = key;
    this.#times = BigInt(times);
  }

  override gradients(message: Uint8Array): Promise<number> {
    const { n, ciphertextBytes: width } = this.#key;
    const { ciphertexts, firstInstance } = decodeMessage(PaillierGradientsSchema, message);
    const powers = new Uint8Array(ciphertexts.length);
    for (let i = 0; i * width < ciphertexts.length; i++)
      writeInteger(powers, width, i, power(readInteger(ciphertexts, width, i), this.#times, n * n));
    return super.gradients(encodeMessage(PaillierGradientsSchema, { firstInstance, ciphertexts: powers }));
  }
}

/** Sums every candidate, also those that it should withhold, and adds no noise to these. */
export class OfferingPassive extends PaillierPassive {
  constructor(kernel: Kernel) {
    super(kernel, 1);
  }

  override sums(task: SentTask): AsyncGenerator<SumsPiece> {
    const withheld = new Uint8Array(task.withheld.length);
    return super.sums({ ...task, withheld, counts: sideCounts(task.plan, task.binCounts) });
  }
}

async function* mapped<T>(answers: AsyncIterable<T>, change: (answer: T) => T): AsyncGenerator<T> {
  for await (const answer of answers) yield change(answer);
}
