/**
 * The parameters that a search may change, and their distributions. Only parameters that passive parties need not agree
 * on one by one: all trials then fit into one job, and one alignment (trial-turns.ts).
 */
import { TandemError } from "../../base/error.ts";
import { describeBounds } from "../../base/parameters/parameters.ts";
import { trainingParameters, type TrainingParameters } from "../parameters/training-parameters.ts";
import { SeededRandom } from "../../base/random.ts";

export const searchable = [
  "eta",
  "max_depth",
  "max_leaves",
  "min_child_weight",
  "subsample",
  "colsample_bytree",
  "lambda",
  "alpha",
  "gamma",
  "max_delta_step",
  "scale_pos_weight",
  "rate_drop",
  "skip_drop",
] as const satisfies readonly (keyof TrainingParameters)[];

export type Searched = (typeof searchable)[number];

/** A range, uniform or log-uniform, or a list of values. */
export type Dimension =
  | { readonly min: number; readonly max: number; readonly log: boolean }
  | { readonly values: readonly number[] };

export type SearchSpace = Readonly<Partial<Record<Searched, Dimension>>>;

const even = (min: number, max: number): Dimension => ({ min, max, log: false });
const logarithmic = (min: number, max: number): Dimension => ({ min, max, log: true });

/** The default search space. */
export function defaultSpace({ grow_policy: policy, max_depth: depth, sampling_method: method }: TrainingParameters) {
  const size = policy === "lossguide" && depth === 0 ? { max_leaves: logarithmic(4, 64) } : { max_depth: even(2, 6) };
  return {
    eta: logarithmic(0.03, 0.4),
    ...size,
    min_child_weight: logarithmic(0.5, 30),
    ...(method === "goss" ? {} : { subsample: even(0.5, 1) }),
    colsample_bytree: even(0.5, 1),
    lambda: logarithmic(0.1, 30),
    gamma: even(0, 3),
  } satisfies SearchSpace;
}

/** @throws TandemError USAGE naming the parameter */
export function checkSpace(space: SearchSpace): void {
  const names = Object.keys(space);
  if (names.length === 0) throw new TandemError("USAGE", "a search needs at least one parameter to change");
  for (const name of searchable) {
    const dimension = space[name];
    if (dimension === undefined) continue;
    const values = "values" in dimension ? dimension.values : [dimension.min, dimension.max];
    const spec = trainingParameters[name];
    const tooLow = (value: number): boolean =>
      value < spec.min || ("minExclusive" in spec && spec.minExclusive && value === spec.min);
    const isWrong = (value: number): boolean =>
      !Number.isFinite(value) ||
      tooLow(value) ||
      ("max" in spec && value > spec.max) ||
      (spec.kind === "integer" && !Number.isInteger(value));
    if (values.length === 0 || values.some(isWrong))
      throw new TandemError(
        "USAGE",
        `the search space has wrong values for ${name}: it must be ${describeBounds(spec)}`,
      );
    if ("values" in dimension) continue;
    if (dimension.min > dimension.max || (dimension.log && dimension.min <= 0))
      throw new TandemError(
        "USAGE",
        `the search space's range of ${name} must go from a lower to a higher number, above 0 if it is logarithmic`,
      );
  }
}

/**
 * The trials of a search: the first is the given configuration, so that the search cannot do worse. The others are
 * drawn from the seed as a Latin hypercube, so that each part of a range gets its share of them.
 * @throws TandemError USAGE for parameters that the booster does not use
 */
export function drawTrials(given: TrainingParameters, space: SearchSpace, count: number): TrainingParameters[] {
  const ofDart = searchable.find((name) => name.endsWith("_drop") && space[name] !== undefined);
  if (ofDart !== undefined && given.booster !== "dart")
    throw new TandemError("USAGE", `the search space has ${ofDart}, which belongs to booster dart: set that too`);
  const drawn = count - 1;
  const values = searchable.flatMap((name) => {
    const dimension = space[name];
    if (dimension === undefined || drawn === 0) return [];
    const random = new SeededRandom(`tune/${given.seed}/${name}`);
    const places = random.permutation(drawn);
    return [{ name, of: Array.from(places, (place) => valueAt(name, dimension, (place + random.uniform()) / drawn)) }];
  });
  const others = Array.from({ length: drawn }, (_, trial) => ({
    ...given,
    ...Object.fromEntries(values.map(({ name, of }) => [name, of[trial]])),
  }));
  return [given, ...others];
}

/** @param share of the range, from 0 up to 1 */
function valueAt(name: Searched, dimension: Dimension, share: number): number {
  if ("values" in dimension) return dimension.values[Math.floor(share * dimension.values.length)];
  const { min, max, log } = dimension;
  const isWhole = trainingParameters[name].kind === "integer";
  const [low, high] = isWhole ? [min, max + 1] : [min, max];
  const value = log ? low * (high / low) ** share : low + share * (high - low);
  // Three digits are easy to copy.
  return isWhole ? Math.min(max, Math.floor(value)) : Math.min(max, Math.max(min, Number(value.toPrecision(3))));
}
