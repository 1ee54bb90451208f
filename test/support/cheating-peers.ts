/**
 * Passive parties that deviate: messages of an honest party are changed on their way. The random bits next to sums are
 * the honest party's own: sums are changed before they are added.
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

/** The winning candidate of each node that a party was sent. */
export type NamedWinners = { readonly node: number; readonly position: number | null }[];

/** @param winners the winners that the party is sent are appended here */
export function cheating(
  winners: NamedWinners,
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
          winners.push({ node, position: named?.case === "candidate" ? (named.value ?? null) : null });
        return mapped(peer.splits(request, options), split);
      },
    };
  };
}

/** Multiplies each count; MultiplyingPassive multiplies the sums. */
export function multipliedCounts(times: number): (answer: PassiveHistograms) => PassiveHistograms {
  return (answer) => ({ ...answer, counts: answer.counts.map((count) => count * times) });
}

/** Multiplies each sum, as if `times` instances had each gradient, by multiplying the encrypted gradients. */
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

/** Sums every candidate, also those that it should suppress, and adds no noise to these. */
export class OfferingPassive extends PaillierPassive {
  constructor(kernel: Kernel) {
    super(kernel, 1);
  }

  override sums(task: SentTask): AsyncGenerator<SumsPiece> {
    const suppressed = new Uint8Array(task.suppressed.length);
    return super.sums({ ...task, suppressed, counts: sideCounts(task.plan, task.binCounts) });
  }
}

async function* mapped<T>(answers: AsyncIterable<T>, change: (answer: T) => T): AsyncGenerator<T> {
  for await (const answer of answers) yield change(answer);
}
