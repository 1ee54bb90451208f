/** What both parties of a job with hidden sums compute alike. */
import type { CodecParameters } from "../base/parameters/parameters.ts";
import { TandemError } from "../base/error.ts";
import type { BinnedFeature } from "../gbdt/split/binning.ts";
import { isPartitioned } from "../gbdt/split/category-candidate.ts";
import type { SectionValues } from "./job.ts";
import type { AgreedParameters } from "./job-parameters.ts";

/** B: sums of any side, and H + 2 lambda of a node, are below 2^B. */
export const bitsMin = 12;
export const bitsMax = 32;

/** A request or an answer of one batch: more than any node of 65,536 candidates needs. */
export const flightBytesMax = 1 << 30;

/** @param largest a bound of the sums */
export function bitsFor(largest: number): number {
  const bits = Math.max(bitsMin, Math.floor(Math.log2(largest)) + 1);
  if (bits <= bitsMax) return bits;
  throw new TandemError(
    "LAYOUT_OVERFLOW",
    `hidden_sums: sums of this job reach 2^${bits - 1}, and must be below 2^${bitsMax}. ` +
      `Use a lower --resolution-bits, or a lower lambda`,
  );
}

/** Finer grids cost more, and choose the same splits (docs/hidden-sums.md). */
const resolutionEnough = 12;

/** The requested codec, with a resolution of which sums are compared. */
export function hiddenSumsCodec(asked: CodecParameters, rows: number): CodecParameters {
  // Half of the range is left for lambda.
  const most = bitsMax - 1 - Math.ceil(Math.log2(Math.max(1, rows)));
  return { ...asked, resolution_bits: Math.min(asked.resolution_bits, resolutionEnough, most) };
}

/**
 * The ring of shares: that of comparisons, unless masks are narrower and wrap.
 * @param maskBits of the scheme
 */
export function sharesRing(bits: number, maskBits: number): number {
  return Math.min(2 * bits + 2, maskBits);
}

/** The bound without lambda, which passive parties do not know. */
export function sumsMost(instanceCount: number, resolutionBits: number): number {
  return instanceCount * 2 ** resolutionBits;
}

/** @throws TandemError USAGE for parameters with which candidates cannot be compared on shares */
export function checkHiddenSums(sections: Pick<SectionValues, "training" | "codec" | "privacy">): void {
  const wrong = sections.privacy.hidden_sums ? whyNotHidden(sections) : null;
  if (wrong !== null) throw new TandemError("USAGE", `hidden_sums cannot be used with ${wrong}`);
}

/** With which parameter candidates cannot be compared on shares; null: with all. */
export function whyNotHidden({
  training,
  codec,
  privacy,
}: Pick<SectionValues, "training" | "codec" | "privacy">): string | null {
  const wrong = [
    training.alpha > 0 && "alpha: set it to 0",
    training.multi_strategy === "multi_output_tree" && "multi_strategy multi_output_tree: use one_output_per_tree",
    privacy.answer_noise > 0 && "answer_noise, which it replaces: turn one of them off",
    codec.layout === "paper" && "layout paper, which needs counts: use layout auto",
  ].find((text) => text !== false);
  return wrong ?? null;
}

const turnOff = ". 'hidden_sums: false' beside a preset adds noise to sums instead";

/**
 * @param party the owner of the features
 * @throws TandemError USAGE for features whose candidates cannot be compared on shares
 */
export function checkHiddenFeatures(features: readonly BinnedFeature[], party: string): void {
  const constrained = features.find(({ monotone = 0 }) => monotone !== 0);
  if (constrained !== undefined)
    throw new TandemError(
      "USAGE",
      `hidden_sums: ${party} has monotone constraints, with which it cannot be used${turnOff}`,
    );
  if (features.some(isPartitioned))
    throw new TandemError(
      "USAGE",
      `hidden_sums: ${party} has features that are split by sets of categories. Use a higher max_cat_to_onehot` +
        turnOff,
    );
}

/** What of agreed parameters is impossible in any job, one phrase each. */
export function impossibleHiddenSums({
  defences,
  resolutionBits,
  outputs,
  treesPerRound,
}: AgreedParameters): readonly (string | false)[] {
  if (!defences.hidden_sums) return [];
  return [
    resolutionBits === 0 && "hidden_sums: it needs layout auto",
    defences.answer_noise > 0 && "hidden_sums: it cannot be used with answer_noise",
    outputs !== treesPerRound && "hidden_sums: it needs a tree for each output",
  ];
}
