/**
 * What a passive party's owner allows, whoever asks. A job that wants more is refused before anything of it happens, with
 * one message that names every field, what was asked and what is allowed.
 */
import { TandemError } from "../base/error.ts";
import { describeBounds, trainingParameters } from "../base/parameters.ts";
import { categoryCountMax } from "../gbdt/category-binning.ts";
import type { Minimums } from "../gbdt/offered-candidates.ts";
import type { ActiveHello } from "../protocol/generated/tandem/v1/tandem_pb.ts";
import { type AgreedParameters, treeCountOf } from "../protocol/job-parameters.ts";
import { paillierSchemeName } from "../protocol/paillier-active.ts";
import { peerText } from "../protocol/peer-text.ts";
import { jobSyntax, type PolicyConfig } from "./config.ts";

/** @throws TandemError POLICY, or HANDSHAKE_MISMATCH for what no policy could allow */
export function agreedByPolicy(hello: ActiveHello, policy: PolicyConfig, name: string): AgreedParameters {
  const { parameters, instanceCount } = hello;
  if (parameters === undefined) throw new TandemError("HANDSHAKE_MISMATCH", `${name}: the active party names no parameters`);
  const { job, numRound, maxDepth, maxBin, scheme, keyBits, codec, seed, colsampleBytree, colsampleBylevel, colsampleBynode, treesPerRound, localRounds, enableCategorical, maxCatToOnehot } = parameters;
  checkJobName(job, name);
  if (scheme !== paillierSchemeName) throw new TandemError("HANDSHAKE_MISMATCH", `scheme: the active party proposes ${peerText(scheme)}, ${name} knows ${paillierSchemeName}`);
  const keyBitsMin = policy.insecure_min_key_bits ?? policy.min_key_bits;
  const bins = trainingParameters.max_bin;
  const broken = [
    numRound < 1 && `num_round: ${numRound} asked, at least 1 is needed`,
    treeCountOf(parameters) > policy.max_trees && `num_round: ${numRound}${treesPerRound === 1 ? "" : ` of ${treesPerRound} trees each`} asked, at most ${policy.max_trees} allowed`,
    localRounds > numRound && `local_rounds: ${localRounds} asked, there are ${numRound} rounds`,
    treesPerRound < 1 && `trees_per_round: ${treesPerRound} asked, at least 1 is needed`,
    maxDepth < 1 && `max_depth: ${maxDepth} asked, at least 1 is needed`,
    maxDepth > policy.max_depth && `max_depth: ${maxDepth} asked, at most ${policy.max_depth} allowed`,
    (maxBin < bins.min || maxBin > bins.max) && `max_bin: ${maxBin} asked, it must be ${describeBounds(bins)}`,
    (maxCatToOnehot < 1 || maxCatToOnehot > categoryCountMax + 1) && `max_cat_to_onehot: ${maxCatToOnehot} asked, it must be ${describeBounds(trainingParameters.max_cat_to_onehot)}`,
    keyBits < keyBitsMin && `key_bits: ${keyBits} asked, at least ${keyBitsMin} allowed`,
    keyBits > keyBitsMax && `key_bits: ${keyBits} asked, at most ${keyBitsMax} allowed`,
    !policy.codecs.some((allowed) => allowed === codec) && `codec: ${peerText(codec)} asked, ${policy.codecs.join(" or ")} allowed`,
    ![colsampleBytree, colsampleBylevel, colsampleBynode].every((rate) => rate > 0 && rate <= 1) && "colsample: shares of the columns must be above 0 up to 1",
    instanceCount < policy.min_instances && `instances: ${instanceCount} brought, at least ${policy.min_instances} allowed`,
  ].filter((violation) => violation !== false);
  if (broken.length > 0) throw refusal(name, broken);
  return { job, numRound, maxDepth, maxBin, scheme, keyBits, codec, seed, colsampleBytree, colsampleBylevel, colsampleBynode, treesPerRound, localRounds, enableCategorical, maxCatToOnehot };
}

const keyBitsMax = 4096;

/** How many people a candidate must have at least: not told to anybody, but kept to. */
export function minimumsOf({ min_instances_per_node: perNode, min_instances_per_candidate: perCandidate }: PolicyConfig): Minimums {
  return { perNode, perCandidate };
}

/** @throws TandemError POLICY if the active party brings more ids than it may ask about */
export function checkIdCount(activeIdCount: number, policy: PolicyConfig, name: string): void {
  if (activeIdCount > policy.max_active_ids) throw refusal(name, [`ids: ${activeIdCount} brought, at most ${policy.max_active_ids} allowed`]);
}

/** A job's name becomes a folder here. */
export function checkJobName(job: string, name: string): void {
  if (!jobSyntax.test(job)) throw new TandemError("HANDSHAKE_MISMATCH", `job: ${name} takes names of up to 64 letters, digits, dots, dashes and underscores`);
}

function refusal(name: string, broken: readonly string[]): TandemError {
  return new TandemError("POLICY", `the policy of ${name} does not allow this job: ${broken.join("; ")}`);
}
