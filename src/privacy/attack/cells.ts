/**
 * B: what a passive party can say about labels from who is in which node. A cell is the finest set that it can put
 * somebody in: a node of the last level that it was told of, parted by its own split there.
 */
import { SeededRandom } from "../../base/random.ts";
import { auc } from "../../gbdt/metric/auc-metrics.ts";
import type { LabelGuess } from "./audit-result.ts";
import type { SeenTree, Transcript } from "./transcript.ts";

/** Trees that the guess without a label looks at: later ones turn to finer matters. */
const firstTrees = 8;
/** How often known labels are drawn. */
const draws = 5;

/** Per visible tree the cell of every person. */
export function cellsOf({ trees, instanceCount }: Transcript): Uint32Array[] {
  return trees.filter(({ nodes }) => nodes.length > 0).map((tree) => cellsOfTree(tree, instanceCount));
}

function cellsOfTree({ nodes }: SeenTree, instanceCount: number): Uint32Array {
  const cells = new Uint32Array(instanceCount);
  // By ascending id: children come after their parents and take their people over.
  for (const { id, instances, won } of nodes) {
    for (const person of instances) cells[person] = 2 * id;
    for (const person of won?.left ?? []) cells[person] = 2 * id + 1;
  }
  return cells;
}

/** People in small cells are the risky ones: minus the sum of log cell sizes. */
export function guessWithoutLabels(cells: readonly Uint32Array[]): Float64Array {
  const scores = new Float64Array(cells[0]?.length ?? 0);
  for (const ofTree of cells.slice(0, firstTrees)) {
    const sizes = new Map<number, number>();
    for (const cell of ofTree) sizes.set(cell, (sizes.get(cell) ?? 0) + 1);
    ofTree.forEach((cell, person) => (scores[person] -= Math.log(sizes.get(cell) ?? 1)));
  }
  return scores;
}

/** Logistic regression on which cells somebody is in, with a penalty on weights; learnt from a few people. */
export function guessWithLabels(cells: readonly Uint32Array[], labels: Float64Array, known: Uint32Array): Float64Array {
  const weights = cells.map((ofTree) => new Float64Array(ofTree.reduce((max, cell) => Math.max(max, cell), 0) + 1));
  let base = 0;
  const marginOf = (person: number): number => cells.reduce((sum, ofTree, t) => sum + weights[t][ofTree[person]], base);
  const rate = 1 / (0.25 * (cells.length + 1) * known.length + 1);
  for (let step = 0; step < 2000; step++) {
    const slopes = Float64Array.from(known, (person) => labels[person] - 1 / (1 + Math.exp(-marginOf(person))));
    for (const ofTree of weights) for (let cell = 0; cell < ofTree.length; cell++) ofTree[cell] *= 1 - rate;
    known.forEach((person, i) => {
      base += rate * slopes[i];
      cells.forEach((ofTree, t) => (weights[t][ofTree[person]] += rate * slopes[i]));
    });
  }
  return Float64Array.from(labels, (_, person) => marginOf(person));
}

/**
 * @param labels 0 or 1
 * @param people whom it is about
 * @param margins the model's, as the ceiling
 * @param knownCount labels that the party is taken to know, for the second guess
 */
export function guessLabels(
  transcript: Transcript,
  labels: Float64Array,
  people: Uint32Array,
  margins: Float64Array,
  knownCount: number,
): LabelGuess | null {
  const cells = cellsOf(transcript);
  const own = Float64Array.from(people, (person) => labels[person]);
  if (cells.length === 0 || own.every((label) => label === own[0])) return null;
  const picked = (scores: Float64Array): Float64Array => Float64Array.from(people, (person) => scores[person]);
  const model = picked(margins);
  // Whoever has an order knows which end of it is the risky one from a label or two: both count.
  const judge = (scores: Float64Array): { auc: number; tenth: number } => {
    const [up, down] = [auc(scores, own), auc(scores.map(negated), own)];
    return up >= down
      ? { auc: up, tenth: sharedTenth(scores, model) }
      : { auc: down, tenth: sharedTenth(scores.map(negated), model) };
  };
  const random = new SeededRandom("attack/labels");
  const known = Math.min(knownCount, Math.floor(people.length / 2));
  const guesses = Array.from({ length: draws }, () => {
    const drawn = Uint32Array.from(random.permutation(people.length).subarray(0, known), (i) => people[i]);
    return judge(picked(guessWithLabels(cells, labels, drawn)));
  });
  const mean = (of: (guess: { auc: number; tenth: number }) => number): number =>
    guesses.reduce((sum, guess) => sum + of(guess), 0) / draws;
  return {
    model: auc(model, own),
    without: judge(picked(guessWithoutLabels(cells))),
    byTree: cells.map((_, i) => ({ tree: i + 1, auc: judge(picked(guessWithoutLabels(cells.slice(0, i + 1)))).auc })),
    known,
    withLabels: { auc: mean((guess) => guess.auc), tenth: mean((guess) => guess.tenth) },
  };
}

const negated = (value: number): number => -value;

/** How many of the riskiest tenth by the model are in the riskiest tenth by the guess. */
function sharedTenth(scores: Float64Array, model: Float64Array): number {
  const tenth = Math.max(1, Math.floor(scores.length / 10));
  const top = (of: Float64Array): number[] =>
    Array.from(of.keys())
      .sort((a, b) => of[b] - of[a])
      .slice(0, tenth);
  const found = new Set(top(scores));
  return top(model).filter((person) => found.has(person)).length / tenth;
}
