/**
 * k-fold cross-validation of a simulated federation: k complete jobs, each tested on the rows it was not trained on.
 */
import { TandemError } from "../base/error.ts";
import { type Spread, spread } from "../gbdt/boost/fold-turns.ts";
import type { Metrics } from "../record/events/training-fields.ts";
import { simulate } from "./simulate.ts";
import type { SimulateOptions } from "./simulate-options.ts";
import type { Supervise } from "./supervisor.ts";

export interface CrossValidation {
  readonly folds: readonly {
    readonly train: Metrics;
    readonly test: Metrics;
    readonly trees: number;
    readonly identicalToCentralised: boolean | null;
  }[];
  /** Per metric over the folds; the deviation is the sample standard deviation. */
  readonly test: Readonly<Record<string, Spread>>;
}

/** @throws TandemError as simulate */
export async function crossValidate(
  options: Omit<SimulateOptions, "fold" | "testData">,
  foldCount: number,
  onFold: (fold: number) => void,
  supervise?: Supervise,
): Promise<CrossValidation> {
  const folds: CrossValidation["folds"][number][] = [];
  for (let index = 0; index < foldCount; index++) {
    onFold(index);
    const { active, difference } = await simulate({ ...options, fold: { index, count: foldCount } }, supervise);
    if (difference !== null && difference !== "")
      throw new TandemError("INTERNAL", `federated and centralised model differ in fold ${index}: ${difference}`);
    folds.push({
      train: active.metrics.train,
      test: active.metrics.test ?? {},
      trees: active.trees,
      identicalToCentralised: difference === null ? null : true,
    });
  }
  const names = Object.keys(folds[0].test);
  // NaN arrives as null from another process.
  const valuesOf = (name: string): number[] => folds.map(({ test }) => test[name] ?? Number.NaN);
  return { folds, test: Object.fromEntries(names.map((name) => [name, spread(valuesOf(name))])) };
}
