/** Passive parties that deviate: what stands between the active party and an honest one changes what passes. */
import { power, readInteger, writeInteger } from "../../src/crypto/integers.ts";
import type { PublicKey } from "../../src/crypto/paillier/keys.ts";
import { connectInMemory } from "../../src/transport/in-memory.ts";
import type { PassiveService } from "../../src/transport/passive-service.ts";
import { PaillierSumsSchema } from "../../src/wire/generated/tandem/v1/paillier_pb.ts";
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

/** Each sum and count so many times: as if so many had the gradient of each. */
export function multiplied(
  { n, ciphertextBytes: width }: PublicKey,
  times: number,
): (answer: PassiveHistograms) => PassiveHistograms {
  return (answer) => {
    const { ciphertexts } = decodeMessage(PaillierSumsSchema, answer.scheme);
    const powers = new Uint8Array(ciphertexts.length);
    for (let i = 0; i * width < ciphertexts.length; i++)
      writeInteger(powers, width, i, power(readInteger(ciphertexts, width, i), BigInt(times), n * n));
    const scheme = encodeMessage(PaillierSumsSchema, { ciphertexts: powers });
    return { ...answer, counts: answer.counts.map((count) => count * times), scheme };
  };
}

async function* mapped<T>(answers: AsyncIterable<T>, change: (answer: T) => T): AsyncGenerator<T> {
  for await (const answer of answers) yield change(answer);
}
