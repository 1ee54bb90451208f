/** Some of a model's rounds, as XGBoost's `iteration_range` counts them: a round is a tree, or a tree per output. */
import { TandemError } from "../../base/error.ts";
import type { Model } from "./model.ts";
import type { Tree } from "./tree.ts";

/** From `begin` up to `end`, which does not belong to it; `end` 0 stands for all rounds. */
export interface IterationRange {
  readonly begin: number;
  readonly end: number;
}

export const allIterations: IterationRange = { begin: 0, end: 0 };

/** The part of a model that determines its rounds. */
interface RoundsOf<R> {
  readonly outputCount?: number | undefined;
  readonly parallelTrees?: number | undefined;
  readonly trees: readonly Tree<R>[];
}

/** Trees per round: one per output, or one with vector leaves; times the number of parallel trees. */
export function treesPerRound<R>({ trees, outputCount = 1, parallelTrees = 1 }: RoundsOf<R>): number {
  const isVector = trees[0]?.some((node) => node.kind === "leaf" && node.weights !== undefined) ?? false;
  return parallelTrees * (isVector ? 1 : outputCount);
}

/** Trees from `first` up to `end`. @throws TandemError USAGE if the model has no such rounds */
export function treesIn<R>(
  model: RoundsOf<R>,
  { begin, end }: IterationRange,
): { readonly first: number; readonly end: number } {
  const perRound = treesPerRound(model);
  const rounds = model.trees.length / perRound;
  const last = end === 0 ? rounds : end;
  if (begin > last || last > rounds)
    throw new TandemError(
      "USAGE",
      `rounds ${begin} to ${end}: the model has ${rounds}, counted from 0; ` +
        "the first must not be after the last, and 0 as the last means all",
    );
  return { first: begin * perRound, end: last * perRound };
}

/** A model of these rounds alone, as XGBoost slices one. @throws TandemError USAGE */
export function slicedModel(model: Model, range: IterationRange): Model {
  const { first, end } = treesIn(model, range);
  const { treeWeights } = model;
  return {
    ...model,
    trees: model.trees.slice(first, end),
    ...(treeWeights === undefined ? {} : { treeWeights: treeWeights.slice(first, end) }),
  };
}

/** Parses the form `a:b` of the command line. @throws TandemError USAGE */
export function iterationRangeFrom(given: string): IterationRange {
  const [, begin, end] = /^(\d{1,9}):(\d{1,9})$/.exec(given) ?? [];
  if (begin === undefined || end === undefined)
    throw new TandemError(
      "USAGE",
      "the rounds must be two whole numbers, as in 0:10: from the first up to the last, which is left out; " +
        `got '${given}'`,
    );
  return { begin: Number(begin), end: Number(end) };
}
