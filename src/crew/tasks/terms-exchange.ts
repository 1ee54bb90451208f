/**
 * How a worker obtains the terms of its tasks: it sends an ephemeral public key, and the answer is encrypted for that
 * key (X25519). Both messages are also encrypted with the crew's key, which authenticates them. An attacker that stores
 * the engine's messages, and gets crew.key later, can read neither the answer nor the tasks, whose secret is in it.
 */
import { createPublicKey, diffieHellman, generateKeyPairSync, hkdfSync, type KeyObject } from "node:crypto";
import { crewKeyBytes, type Seal, sealOf } from "../seal.ts";

/** A worker's question. */
export class TermsQuestion {
  readonly publicKey: Uint8Array;
  readonly #privateKey: KeyObject;

  constructor() {
    const pair = newPair();
    this.publicKey = shown(pair.publicKey);
    this.#privateKey = pair.privateKey;
  }

  /** @returns null if the answer is for another question */
  open(epoch: string, subject: string, { publicKey, box }: TermsAnswer): Uint8Array | null {
    try {
      return boxSeal(this.#privateKey, publicKey, [this.publicKey, publicKey], epoch).open(subject, box);
    } catch {
      return null; // one of an earlier process
    }
  }
}

export interface TermsAnswer {
  readonly publicKey: Uint8Array;
  readonly box: Uint8Array;
}

/** The party's answer. @throws if the question's key is invalid */
export function answerTo(question: Uint8Array, epoch: string, subject: string, terms: Uint8Array): TermsAnswer {
  const pair = newPair();
  const publicKey = shown(pair.publicKey);
  const box = boxSeal(pair.privateKey, question, [question, publicKey], epoch).seal(subject, terms);
  return { publicKey, box };
}

function newPair(): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  return generateKeyPairSync("x25519");
}

function shown(key: KeyObject): Uint8Array {
  return key.export({ type: "spki", format: "der" });
}

function boxSeal(own: KeyObject, theirs: Uint8Array, keys: readonly Uint8Array[], epoch: string): Seal {
  const publicKey = createPublicKey({ key: Buffer.from(theirs), type: "spki", format: "der" });
  const shared = diffieHellman({ privateKey: own, publicKey });
  const key = hkdfSync("sha256", shared, Buffer.concat(keys), "tandem/crew/terms/1", crewKeyBytes);
  return sealOf(new Uint8Array(key), epoch);
}
