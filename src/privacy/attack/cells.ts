/**
 * B: what a passive party can infer about labels from node membership. A cell is the finest set of instances that it
 * can distinguish: a node of the last level that was sent to it, divided by its own split there.
 */
import { SeededRandom } from "../../base/random.ts";
import { auc } from "../../gbdt/metric/auc-metrics.ts";
import type { Guess, LabelGuess } from "./audit-result.ts";
import type { SeenTree, Transcript } from "./transcript.ts";

/** Trees that the guess without a label uses: later ones correlate less with the label. */
const firstTrees = 8;
/** Draws of known labels that are averaged. */
const draws = 5;

/** Per visible tree the cell of every instance. */
export function cellsOf({ trees, instanceCount }: Transcript): Uint32Array[] {
  return trees.filter(({ nodes }) => nodes.length > 0).map((tree) => cellsOfTree(tree, instanceCount));
}

function cellsOfTree({ nodes }: SeenTree, instanceCount: number): Uint32Array {
  const cells = new Uint32Array(instanceCount);
  // By ascending id: children come after their parents and overwrite the cells of their instances.
  for (const { id, instances, won } of nodes) {
    for (const instance of instances) cells[instance] = 2 * id;
    for (const instance of won?.left ?? []) cells[instance] = 2 * id + 1;
  }
  return cells;
}

/** Instances in small cells are assumed to be the positive ones: the score is minus the sum of log cell sizes. */
export function guessWithoutLabels(cells: readonly Uint32Array[]): Float64Array {
  const scores = new Float64Array(cells[0]?.length ?? 0);
  for (const ofTree of cells.slice(0, firstTrees)) {
    const sizes = new Map<number, number>();
    for (const cell of ofTree) sizes.set(cell, (sizes.get(cell) ?? 0) + 1);
    ofTree.forEach((cell, instance) => (scores[instance] -= Math.log(sizes.get(cell) ?? 1)));
  }
  return scores;
}

/** Logistic regression with a weight penalty on the cells of an instance, trained on the known labels. */
export function guessWithLabels(cells: readonly Uint32Array[], labels: Float64Array, known: Uint32Array): Float64Array {
  const weights = cells.map((ofTree) => new Float64Array(ofTree.reduce((max, cell) => Math.max(max, cell), 0) + 1));
  let base = 0;
  const marginOf = (instance: number): number =>
    cells.reduce((sum, ofTree, t) => sum + weights[t][ofTree[instance]], base);
  const rate = 1 / (0.25 * (cells.length + 1) * known.length + 1);
  for (let step = 0; step < 2000; step++) {
    const slopes = Float64Array.from(known, (instance) => labels[instance] - 1 / (1 + Math.exp(-marginOf(instance))));
    for (const ofTree of weights) for (let cell = 0; cell < ofTree.length; cell++) ofTree[cell] *= 1 - rate;
    known.forEach((instance, i) => {
      base += rate * slopes[i];
      cells.forEach((ofTree, t) => (weights[t][ofTree[instance]] += rate * slopes[i]));
    });
  }
  return Float64Array.from(labels, (_, instance) => marginOf(instance));
}

/**
 * @param labels 0 or 1
 * @param instances those to guess for
 * @param margins of the model, as the upper reference
 * @param knownCount labels that the party is assumed to know, for the second guess
 */
export function guessLabels(
  transcript: Transcript,
  labels: Float64Array,
  instances: Uint32Array,
  margins: Float64Array,
  knownCount: number,
): LabelGuess | null {
  const cells = cellsOf(transcript);
  const judged = new JudgedGuesses({ labels, instances, margins, knownCount });
  const guesses = judged.of(cells, guessWithoutLabels(cells));
  if (guesses === null) return null;
  const byTree = cells.map((_, i) => ({ tree: i + 1, auc: judged.auc(guessWithoutLabels(cells.slice(0, i + 1))) }));
  return { ...guesses, byTree };
}

export interface JudgedLabels {
  /** 0 or 1. */
  readonly labels: Float64Array;
  /** Those to guess for. */
  readonly instances: Uint32Array;
  /** Of the model, as the upper reference. */
  readonly margins: Float64Array;
  /** Labels that the party is assumed to know, for the second guess. */
  readonly knownCount: number;
}

/** How good guesses are. */
export class JudgedGuesses {
  readonly #given: JudgedLabels;
  /** Of the instances. */
  readonly #labels: Float64Array;
  readonly #model: Float64Array;

  constructor(given: JudgedLabels) {
    this.#given = given;
    this.#labels = this.#picked(given.labels);
    this.#model = this.#picked(given.margins);
  }

  /** @param without scores that are guessed without a label; null: all instances have one label */
  of(cells: readonly Uint32Array[], without: Float64Array): Omit<LabelGuess, "byTree"> | null {
    const { labels, instances, knownCount } = this.#given;
    if (cells.length === 0 || this.#labels.every((label) => label === this.#labels[0])) return null;
    const random = new SeededRandom("attack/labels");
    const known = Math.min(knownCount, Math.floor(instances.length / 2));
    const guesses = Array.from({ length: draws }, () => {
      const drawn = Uint32Array.from(random.permutation(instances.length).subarray(0, known), (i) => instances[i]);
      return this.#judge(guessWithLabels(cells, labels, drawn));
    });
    const mean = (of: (guess: Guess) => number): number => guesses.reduce((sum, guess) => sum + of(guess), 0) / draws;
    return {
      model: auc(this.#model, this.#labels),
      without: this.#judge(without),
      known,
      withLabels: { auc: mean((guess) => guess.auc), tenth: mean((guess) => guess.tenth) },
    };
  }

  /** Of scores of all instances of the job. */
  auc(scores: Float64Array): number {
    return this.#judge(scores).auc;
  }

  /** One or two known labels show which end of a ranking is the positive one: the better direction counts. */
  #judge(all: Float64Array): Guess {
    const scores = this.#picked(all);
    const [up, down] = [auc(scores, this.#labels), auc(scores.map(negated), this.#labels)];
    return up >= down
      ? { auc: up, tenth: sharedTenth(scores, this.#model) }
      : { auc: down, tenth: sharedTenth(scores.map(negated), this.#model) };
  }

  #picked(values: Float64Array): Float64Array {
    return Float64Array.from(this.#given.instances, (instance) => values[instance]);
  }
}

const negated = (value: number): number => -value;

/** Share of the model's highest tenth that is in the guess's highest tenth. */
function sharedTenth(scores: Float64Array, model: Float64Array): number {
  const tenth = Math.max(1, Math.floor(scores.length / 10));
  const top = (of: Float64Array): number[] =>
    Array.from(of.keys())
      .sort((a, b) => of[b] - of[a])
      .slice(0, tenth);
  const found = new Set(top(scores));
  return top(model).filter((instance) => found.has(instance)).length / tenth;
}
