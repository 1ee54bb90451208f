/** The public interface of the Paillier layer. The deterministic evaluators (evaluator-seams.ts) are not exported. */
export type {
  EvaluatorOptions,
  HistogramRequest,
  Kernel,
  PackRequest,
  PrivateEvaluator,
  PublicEvaluator,
  RunningSumsRequest,
} from "./kernel.ts";
export { keyBitsMax, keyBitsMin, keyBitsSecure, type PrivateKey, type PublicKey } from "./keys.ts";
export { checkKeyBits, generateKey, type KeyOptions } from "./key-generation.ts";
export {
  parsePrivateKey,
  parsePublicKey,
  type ParseOptions,
  readPrivateKey,
  serialisePrivateKey,
  serialisePublicKey,
  writePrivateKey,
} from "./key-format.ts";
export { checkModulusProof, modulusProof } from "./modulus-proof.ts";
export { defaultThreads, selectKernel } from "./select-kernel.ts";
export { bigintsFromPlaintexts, plaintextsFromBigints, signedFromPlaintext } from "./signed-plaintexts.ts";
export { CiphertextVector, type ObfuscatorVector, PlaintextVector, type ResidentVector } from "./vectors.ts";
