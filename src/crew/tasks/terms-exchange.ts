/**
 * How a worker learns what its tasks need: it shows a key that is made for this question only, and the answer is for
 * that key (X25519). Both are sealed as well, so each knows that the other is of the crew. Who keeps what an engine
 * carried, and gets crew.key later, can read neither the answer nor the tasks: their secret is in it.
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

  /** @returns null where the answer is for another question */
  open(epoch: string, subject: string, { publicKey, box }: TermsAnswer): Uint8Array | null {
    try {
      return boxSeal(this.#privateKey, publicKey, [this.publicKey, publicKey], epoch).open(subject, box);
    } catch {
      return null; // one that was asked before, by a process that has begun anew
    }
  }
}

export interface TermsAnswer {
  readonly publicKey: Uint8Array;
  readonly box: Uint8Array;
}

/** The party's answer. @throws where the question's key is none */
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
