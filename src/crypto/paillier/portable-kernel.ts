/**
 * The portable kernel: Paillier in plain TypeScript. It is the oracle for the native kernel and what machines without a
 * C++ compiler run on. Nothing in it is constant-time, because bigint is not.
 */
import type { SeamedPrivateEvaluator, SeamedPublicEvaluator } from "./evaluator-seams.ts";
import type { EvaluatorOptions, Kernel } from "./kernel.ts";
import type { PrivateKey, PublicKey } from "./keys.ts";
import { PortablePrivateEvaluator } from "./portable-private.ts";
import { PortablePublicEvaluator } from "./portable-public.ts";
import { checkThreads } from "./request-checks.ts";

/** A kernel whose evaluators also have the deterministic seams that differential tests use. */
export interface SeamedKernel extends Kernel {
  publicEvaluator(key: PublicKey, options: EvaluatorOptions): SeamedPublicEvaluator;
  privateEvaluator(key: PrivateKey, options: EvaluatorOptions): SeamedPrivateEvaluator;
}

export const portableKernel: SeamedKernel = {
  name: "portable",
  publicEvaluator(key, options) {
    checkThreads(options.threads);
    return new PortablePublicEvaluator(key);
  },
  privateEvaluator(key, options) {
    checkThreads(options.threads);
    return new PortablePrivateEvaluator(key, options.exponents ?? "full");
  },
};
