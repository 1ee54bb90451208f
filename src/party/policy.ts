/**
 * The policy of a passive party's owner. A job that exceeds it is refused when it is requested, with one message that
 * names every field, what was requested and what is allowed. What is known only then is checked again when it begins.
 */
import { impossibleHiddenSums } from "../protocol/hidden-sums.ts";
import { impossibleVetting } from "../protocol/vetting.ts";
import { TandemError } from "../base/error.ts";
import { membershipFacts } from "../base/membership.ts";
import {
  codecBounds,
  codecNames,
  codecParameters,
  codecWith,
  describeBounds,
  paperSlotBits,
} from "../base/parameters/parameters.ts";
import { countingDefences } from "../privacy/defences/defences.ts";
import { trainingParameters } from "../gbdt/parameters/training-parameters.ts";
import { categoryCountMax } from "../gbdt/split/category-binning.ts";
import type { Minimums } from "../gbdt/split/offered-candidates.ts";
import type { ActiveHello } from "../wire/generated/tandem/v1/tandem_pb.ts";
import { type AgreedParameters, receivedParameters, treeCountOf } from "../protocol/job-parameters.ts";
import { isScheme, schemeNamed, schemeNames } from "../scheme/registry.ts";
import type { SchemeLimits } from "../scheme/scheme.ts";
import { countSet } from "../wire/bitmap.ts";
import { peerText } from "../wire/peer-text.ts";
import { jobSyntax } from "../base/job-name.ts";
import type { PolicyConfig } from "./config/policy-config.ts";
import type { Experiment } from "./experiment.ts";
import { impossibleGroups } from "./interaction-groups.ts";
import { presetHint, weakerDefences } from "./privacy-policy.ts";

/** Minimum share of instances that are not validation rows. */
const decidingShareMin = 0.5;

/** @throws TandemError POLICY, or HANDSHAKE_MISMATCH for parameters that are invalid under any policy */
export function agreedByPolicy(
  hello: Pick<ActiveHello, "parameters" | "instanceCount" | "validationRows">,
  policy: PolicyConfig,
  name: string,
  experiment: Pick<Experiment, "resolutionBitsMax" | "paddingMax"> = {},
): AgreedParameters {
  const { parameters, instanceCount } = hello;
  const agreed = receivedParameters(parameters, name);
  checkJobName(agreed.job, name);
  if (!isScheme(agreed.scheme))
    throw new TandemError(
      "HANDSHAKE_MISMATCH",
      `scheme: the active party proposes ${peerText(agreed.scheme)}, ${name} knows ${schemeNames().join(", ")}`,
    );
  // Validation rows do not count towards minimums: no sum includes them.
  const heldBack = countSet(hello.validationRows, Math.min(instanceCount, 8 * hello.validationRows.length));
  const trained = instanceCount - heldBack;
  const broken = [
    ...impossible(agreed),
    ...notAllowed(agreed, policy),
    ...tooWide(agreed, experiment),
    trained < policy.min_instances && `instances: ${trained} training rows, at least ${policy.min_instances} allowed`,
    // Cuts computed from few rows reveal their values.
    trained < decidingShareMin * instanceCount &&
      `validation_rows: ${heldBack} of ${instanceCount} held back, at least ${decidingShareMin} must not be`,
  ].filter((violation) => violation !== false);
  if (broken.length > 0) throw refusal(name, broken, presetHint(agreed, policy.privacy));
  return agreed;
}

/** Parameters that are invalid in any job. */
function impossible(agreed: AgreedParameters): readonly (string | false)[] {
  const { numRound, maxDepth, maxLeaves, maxBin, treesPerRound, localRounds, startTrees, maxCatToOnehot } = agreed;
  const { max_bin: bins, max_depth: depths, max_leaves: leaves, max_cat_to_onehot: oneHot } = trainingParameters;
  const treeCount = treeCountOf(agreed);
  const rates = [agreed.colsampleBytree, agreed.colsampleBylevel, agreed.colsampleBynode];
  return [
    numRound < 1 && `num_round: ${numRound} requested, at least 1 is needed`,
    localRounds > numRound && `local_rounds: ${localRounds} requested, there are ${numRound} rounds`,
    startTrees >= treeCount && `start_trees: ${startTrees} requested, of ${treeCount} in all`,
    startTrees > 0 !== (agreed.startModel !== "") && "start_model: a model is named if and only if it has trees",
    treesPerRound !== 1 &&
      treesPerRound !== agreed.outputs &&
      `trees_per_round: ${treesPerRound} requested, it must be 1 or the number of outputs, ${agreed.outputs}`,
    maxDepth === 0 && maxLeaves === 0 && "max_depth: no limit requested, and max_leaves has none either",
    maxDepth > depths.max && `max_depth: ${maxDepth} requested, it must be ${describeBounds(depths)}`,
    maxLeaves > leaves.max && `max_leaves: ${maxLeaves} requested, it must be ${describeBounds(leaves)}`,
    (maxBin < bins.min || maxBin > bins.max) && `max_bin: ${maxBin} requested, it must be ${describeBounds(bins)}`,
    (maxCatToOnehot < 1 || maxCatToOnehot > categoryCountMax + 1) &&
      `max_cat_to_onehot: ${maxCatToOnehot} requested, it must be ${describeBounds(oneHot)}`,
    agreed.defences.answer_noise > 0 && agreed.resolutionBits === 0 && "answer_noise: it needs layout auto",
    agreed.defences.score_noise > 0 && !agreed.defences.masked_scoring && "score_noise: it needs masked_scoring",
    agreed.defences.score_noise > 0 && startTrees > 0 && "score_noise: it cannot be used with a start model",
    ...impossibleLayout(agreed),
    ...impossibleHiddenSums(agreed),
    ...impossibleVetting(agreed),
    impossibleGroups(agreed.interactionGroups),
    !rates.every((rate) => rate > 0 && rate <= 1) && "colsample: fractions of the columns must be above 0 up to 1",
  ];
}

/** Layout parameters that are invalid in any job. */
function impossibleLayout({
  codec,
  resolutionBits,
  slotBits,
  padding,
  outputs,
}: AgreedParameters): readonly (string | false)[] {
  const { resolution_bits: resolution, r, padding: paddings } = codecBounds;
  const classes = trainingParameters.num_class.max;
  const isPaper = resolutionBits === 0;
  return [
    !isPaper &&
      (resolutionBits < resolution.min || resolutionBits > resolution.max) &&
      `resolution_bits: ${resolutionBits} requested, it must be ${describeBounds(resolution)}`,
    (isPaper ? slotBits < r.min || slotBits > r.max : slotBits !== 0) &&
      `r: ${slotBits} requested, it must be ${isPaper ? describeBounds(r) : "0 with layout auto"}`,
    !codecNames.some((known) => known === codec) && `codec: ${peerText(codec)} is not known`,
    (padding < paddings.min || padding > paddings.max) &&
      `padding: ${padding} requested, it must be ${describeBounds(paddings)}`,
    (outputs < 1 || outputs > classes) && `outputs: ${outputs} requested, it must be 1 up to ${classes}`,
  ];
}

/** What this policy refuses. */
function notAllowed(agreed: AgreedParameters, policy: PolicyConfig): readonly (string | false)[] {
  const { numRound, maxDepth, treesPerRound, scheme } = agreed;
  const ofTrees = treesPerRound === 1 ? "" : ` of ${treesPerRound} trees each`;
  const depth = maxDepth === 0 ? "no limit" : maxDepth;
  const isTooDeep = policy.max_depth > 0 && (maxDepth === 0 || maxDepth > policy.max_depth);
  return [
    treeCountOf(agreed) > policy.max_trees &&
      `num_round: ${numRound}${ofTrees} requested, at most ${policy.max_trees} allowed`,
    agreed.outputs > policy.max_outputs &&
      `outputs: ${agreed.outputs} requested, at most ${policy.max_outputs} allowed ` +
        `('max_outputs: ${agreed.outputs}' in its policy would allow it)`,
    agreed.vetting &&
      policy.vetting === "refused" &&
      "vetting: vetting its columns is not allowed ('vetting: unnamed' in its policy would allow it)",
    agreed.vetting &&
      policy.privacy.hidden_sums &&
      "vetting: it sends the sums of every column, and hidden_sums is demanded",
    agreed.startTrees > 0 && !policy.warm_start && "start_model: going on from an earlier model is not allowed",
    isTooDeep && `max_depth: ${depth} requested, at most ${policy.max_depth} allowed`,
    !policy.schemes.includes(scheme) &&
      `scheme: ${scheme} requested, ${policy.schemes.join(" or ")} allowed ` +
        `('schemes: [${[...policy.schemes, scheme].join(", ")}]' in its policy would allow it)`,
    ...minimumsBelowRoot(agreed, policy),
    ...schemeNamed(scheme).violations(agreed.schemeParameters, toSchemeLimits(policy)),
    ...weakerDefences(agreed, policy.privacy),
  ];
}

/**
 * Wide plaintexts have room for marks of instances next to gradients, which a passive party cannot detect. Layout auto
 * proves that no sum reaches the padding, so that no honest job needs more than the default.
 */
function tooWide(
  { resolutionBits, slotBits, padding }: AgreedParameters,
  {
    resolutionBitsMax: bitsMax = codecParameters.resolution_bits.default,
    paddingMax = codecWith().padding,
  }: Pick<Experiment, "resolutionBitsMax" | "paddingMax">,
): readonly (string | false)[] {
  const slotBitsMax = Math.max(bitsMax, paperSlotBits);
  return [
    padding > paddingMax && `padding: ${padding} requested, at most ${paddingMax} allowed`,
    resolutionBits > bitsMax && `resolution_bits: ${resolutionBits} requested, at most ${bitsMax} allowed`,
    slotBits > slotBitsMax && `r: ${slotBits} requested, at most ${slotBitsMax} allowed`,
  ];
}

/**
 * Minimums that cannot be enforced below the root: a party that does not know the members of a node cannot count them.
 */
function minimumsBelowRoot(agreed: AgreedParameters, policy: PolicyConfig): readonly string[] {
  if (membershipFacts[schemeNamed(agreed.scheme).membership].membersAreSent || policy.lattice_minimums === "root")
    return [];
  const minimums = [
    ...(["min_instances_per_node", "min_instances_per_candidate", "min_instances_per_tree"] as const).filter(
      (name) => policy[name] > 1,
    ),
    ...countingDefences(agreed.defences),
  ];
  if (minimums.length === 0) return [];
  return [
    `scheme: ${agreed.scheme} requested, with which ${minimums.join(", ")} would hold over all people only ` +
      "('lattice_minimums: root' in its policy would allow it)",
  ];
}

/** The policy's limits for a scheme. */
export function toSchemeLimits({ insecure_min_key_bits: insecure, min_key_bits: secure }: PolicyConfig): SchemeLimits {
  return { keyBitsMin: insecure ?? secure };
}

/** The minimums of instances per candidate: enforced, but not sent to any party. */
export function toMinimums({
  min_instances_per_node: perNode,
  min_instances_per_candidate: perCandidate,
}: PolicyConfig): Minimums {
  return { perNode, perCandidate };
}

/** @throws TandemError POLICY if the active party has more ids than allowed */
export function checkIdCount(activeIdCount: number, policy: PolicyConfig, name: string): void {
  if (activeIdCount > policy.max_active_ids)
    throw refusal(name, [`ids: ${activeIdCount} brought, at most ${policy.max_active_ids} allowed`]);
}

/** @throws TandemError HANDSHAKE_MISMATCH if one side has a file of validation rows, and the other has not */
export function checkValidationFile(theirs: boolean, own: string | undefined, name: string): void {
  if (theirs === (own !== undefined)) return;
  const [has, lacks] = theirs ? ["the active party", name] : [name, "the active party"];
  throw new TandemError(
    "HANDSHAKE_MISMATCH",
    `validation_path: ${has} has a file of validation rows, ${lacks} has none. Every party names one, or none does`,
  );
}

/** A job's name becomes a folder here. */
export function checkJobName(job: string, name: string): void {
  if (!jobSyntax.test(job))
    throw new TandemError(
      "HANDSHAKE_MISMATCH",
      `job: ${name} takes names of up to 64 letters, digits, dots, dashes and underscores`,
    );
}

function refusal(name: string, broken: readonly string[], hint = ""): TandemError {
  return new TandemError("POLICY", `the policy of ${name} does not allow this job: ${broken.join("; ")}${hint}`);
}
