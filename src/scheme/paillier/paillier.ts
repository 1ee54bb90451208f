/** Entry point of the Paillier scheme: its parameters, its key, its two halves. */
import { assert } from "../../base/assert.ts";
import { coresIdle } from "../../base/scheduling/idle-cores.ts";
import { plaintextBitsMax, sumPacking } from "../../codec/packing.ts";
import {
  checkKeyBits,
  defaultThreads,
  generateKey,
  keyBitsMax,
  keyBitsSecure,
  parsePrivateKey,
  type PrivateKey,
  selectKernel,
  serialisePrivateKey,
} from "../../crypto/paillier/index.ts";
import type { SchemeParameters, SchemeSecret, SentScheme } from "../scheme.ts";
import { allShortcuts } from "../shortcuts.ts";
import { PaillierActive } from "./active.ts";
import { PaillierBlock } from "./block.ts";
import { paillierCosts } from "./cost-model.ts";
import { PaillierPassive } from "./passive.ts";
import { PaillierReplay } from "./replay.ts";
import { paillierSchemeName } from "./scheme-name.ts";
import { paillierTaskWork } from "./tasks/task-work.ts";

/** The active party's private key. */
export class PaillierSecret implements SchemeSecret {
  readonly scheme = paillierSchemeName;
  readonly key: PrivateKey;

  constructor(key: PrivateKey) {
    this.key = key;
  }

  serialise(): string {
    return serialisePrivateKey(this.key);
  }
}

export const paillier: SentScheme = {
  name: paillierSchemeName,
  membership: "sent",
  masksSums: true,

  parameters: ({ keyBits, insecureKey }) => {
    checkKeyBits(keyBits, insecureKey);
    return { keyBits };
  },

  conflicts: () => [],

  codecFor: (asked) => asked,

  kernelName: () => selectKernel().name,

  describe: (parameters) => {
    const key = `a ${keyBitsOf(parameters)}-bit Paillier key`;
    return isShort(parameters) ? `${key} (insecure: for experiments only)` : key;
  },

  warning: (parameters) =>
    isShort(parameters)
      ? `A key of ${keyBitsOf(parameters)} bits is insecure: it can be factored. Use it for experiments only.`
      : null,

  violations: (parameters, { keyBitsMin }) => {
    const { keyBits, ...others } = parameters;
    if (keyBits === undefined) return ["key_bits: missing"];
    return [
      ...(keyBits < keyBitsMin ? [`key_bits: ${keyBits} requested, at least ${keyBitsMin} allowed`] : []),
      ...(keyBits > keyBitsMax ? [`key_bits: ${keyBits} requested, at most ${keyBitsMax} allowed`] : []),
      ...(Object.keys(others).length > 0 ? ["scheme: unknown parameters for Paillier"] : []),
    ];
  },

  plaintextBitsMax: (parameters) => plaintextBitsMax(keyBitsOf(parameters)),

  sizes: (parameters, { plaintexts, plaintextBits }) => {
    const keyBits = keyBitsOf(parameters);
    return {
      ciphertextBytes: (2 * keyBits) / 8,
      ciphertextsPerInstance: plaintexts.length,
      sumsPerCiphertext: sumPacking(plaintextBits, keyBits, true).perCiphertext,
      plaintextBitsMax: plaintextBitsMax(keyBits),
    };
  },

  makeSecret: async ({ keyBits, insecureKey }) =>
    new PaillierSecret(await generateKey({ bits: keyBits, insecure: insecureKey })),

  // The required key length was checked when the job began.
  readSecret: async (text) => new PaillierSecret(await parsePrivateKey(text, { insecure: true })),

  active: (secret, { threads, shortcuts, seed, crew }) => {
    assert(secret instanceof PaillierSecret, "the secret belongs to this scheme");
    return new PaillierActive(
      selectKernel(),
      secret.key,
      threads ?? defaultThreads(),
      shortcuts,
      coresIdle,
      seed,
      crew,
    );
  },

  passive: ({ threads, crew }) => new PaillierPassive(selectKernel(), threads ?? defaultThreads(), crew),

  block: (data, { threads }) => new PaillierBlock(selectKernel(), data, threads ?? defaultThreads()),

  task: (terms, { threads }) => paillierTaskWork(selectKernel(), terms, threads ?? defaultThreads()),

  replay: (secret, { threads = defaultThreads(), seed }) => {
    assert(secret instanceof PaillierSecret, "the secret belongs to this scheme");
    const real = new PaillierActive(selectKernel(), secret.key, threads, allShortcuts, coresIdle, seed);
    return new PaillierReplay(real);
  },

  costModel: ({ keyBits }) => paillierCosts(selectKernel(), keyBits),
};

function isShort(parameters: SchemeParameters): boolean {
  return keyBitsOf(parameters) < keyBitsSecure;
}

function keyBitsOf({ keyBits }: SchemeParameters): number {
  assert(keyBits !== undefined, "Paillier's parameters include the key size");
  return keyBits;
}
