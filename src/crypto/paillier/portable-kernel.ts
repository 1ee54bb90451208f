/**
 * The portable kernel: Paillier in plain TypeScript. It is the oracle for the native kernel, and the fallback for
 * machines without a C++ compiler. Not constant-time, because bigint is not.
 */
import type { SeamedPrivateEvaluator, SeamedPublicEvaluator } from "./evaluator-seams.ts";
import type { EvaluatorOptions, Kernel } from "./kernel.ts";
import type { PrivateKey, PublicKey } from "./keys.ts";
import { PortablePrivateEvaluator } from "./portable-private.ts";
import { PortablePublicEvaluator } from "./portable-public.ts";
import { checkThreads } from "./request-checks.ts";

/** A kernel whose evaluators accept random numbers as arguments, for differential tests. */
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
