/**
 * The cuts that XGBoost's `hist` makes of a column without weights: a streaming quantile sketch (Greenwald and Khanna;
 * XGBoost's src/common/quantile.h, of 1.7 to 2.1). It keeps summaries of limited size, so that ranks are approximate in
 * a column of more than 8 * max_bin distinct values, and depend on the order of rows. Ranks are float32 as there, so
 * that near-ties go the same way.
 */
import type { ColumnSummary } from "./counted-cuts.ts";

/** XGBoost's WQSketch::kFactor: a summary has this many times the precision of the bins. */
const precisionFactor = 8;

const float = Math.fround;

/** Values in ascending order, each with bounds of its ranks and its number of rows. */
class Summary {
  size = 0;
  readonly value: Float32Array;
  readonly rankMin: Float32Array;
  readonly rankMax: Float32Array;
  readonly weight: Float32Array;

  constructor(capacity: number) {
    this.value = new Float32Array(capacity);
    this.rankMin = new Float32Array(capacity);
    this.rankMax = new Float32Array(capacity);
    this.weight = new Float32Array(capacity);
  }

  push(value: number, rankMin: number, rankMax: number, weight: number): void {
    const at = this.size++;
    this.value[at] = value;
    this.rankMin[at] = rankMin;
    this.rankMax[at] = rankMax;
    this.weight[at] = weight;
  }

  /** Least rank of anything above entry i. */
  above(i: number): number {
    return float(this.rankMin[i] + this.weight[i]);
  }

  /** Greatest rank of anything below entry i. */
  below(i: number): number {
    return float(this.rankMax[i] - this.weight[i]);
  }

  copy(other: Summary): void {
    this.size = 0;
    for (let i = 0; i < other.size; i++) this.#take(other, i);
  }

  /** The first entry of `source`, the last, and those nearest to equal steps of rank between: `sizeMax` at most. */
  prune(source: Summary, sizeMax: number): void {
    if (source.size <= sizeMax) return this.copy(source);
    const last = source.size - 1;
    const begin = source.rankMax[0];
    const range = float(source.rankMin[last] - begin);
    const steps = sizeMax - 1;
    this.size = 0;
    this.#take(source, 0);
    let [i, kept] = [1, 0];
    for (let step = 1; step < steps; step++) {
      const twice = 2 * float(float(float(step * range) / steps) + begin);
      while (i < last && twice >= float(source.rankMax[i + 1] + source.rankMin[i + 1])) i++;
      if (i === last) break;
      const nearest = twice < float(source.above(i) + source.below(i + 1)) ? i : i + 1;
      if (nearest !== kept) this.#take(source, (kept = nearest));
    }
    if (kept !== last) this.#take(source, last);
  }

  /** The union of two summaries: what is below an entry in the other one adds to its ranks. */
  combine(a: Summary, b: Summary): void {
    if (a.size === 0) return this.copy(b);
    if (b.size === 0) return this.copy(a);
    this.size = 0;
    let [i, j, belowA, belowB] = [0, 0, 0, 0];
    while (i < a.size && j < b.size) {
      if (a.value[i] === b.value[j]) {
        const [min, max] = [float(a.rankMin[i] + b.rankMin[j]), float(a.rankMax[i] + b.rankMax[j])];
        this.push(a.value[i], min, max, float(a.weight[i] + b.weight[j]));
        [belowA, belowB] = [a.above(i++), b.above(j++)];
      } else if (a.value[i] < b.value[j]) {
        this.push(a.value[i], float(a.rankMin[i] + belowB), float(a.rankMax[i] + b.below(j)), a.weight[i]);
        belowA = a.above(i++);
      } else {
        this.push(b.value[j], float(b.rankMin[j] + belowA), float(b.rankMax[j] + a.below(i)), b.weight[j]);
        belowB = b.above(j++);
      }
    }
    this.#append(a, i, belowB, b.rankMax[b.size - 1]);
    this.#append(b, j, belowA, a.rankMax[a.size - 1]);
    this.#restoreOrder();
  }

  #take(source: Summary, i: number): void {
    this.push(source.value[i], source.rankMin[i], source.rankMax[i], source.weight[i]);
  }

  #append(rest: Summary, from: number, below: number, all: number): void {
    for (let i = from; i < rest.size; i++)
      this.push(rest.value[i], float(rest.rankMin[i] + below), float(rest.rankMax[i] + all), rest.weight[i]);
  }

  /** Rounded ranks may have lost their order: each becomes at least that of the entry before it. */
  #restoreOrder(): void {
    let [min, max] = [0, 0];
    for (let i = 0; i < this.size; i++) {
      if (this.rankMin[i] < min) this.rankMin[i] = min;
      else min = this.rankMin[i];
      if (this.rankMax[i] < max) this.rankMax[i] = max;
      const above = this.above(i);
      if (this.rankMax[i] < above) this.rankMax[i] = above;
      max = this.rankMax[i];
    }
  }
}

/** Values in the order of rows; full queues become summaries, and two summaries of a level become one of the next. */
class QuantileSketch {
  readonly #limit: number;
  readonly #queue: Float32Array;
  /** Equal values in a row share a place. */
  readonly #repeats: Uint32Array;
  #queued = 0;
  readonly #levels: Summary[] = [];
  readonly #merged: Summary;

  /** @param count of the values that follow */
  constructor(count: number, maxBin: number) {
    const bins = Math.max(1, Math.min(maxBin, count));
    this.#limit = summarySize(count, 1 / float(bins * precisionFactor));
    this.#queue = new Float32Array(2 * this.#limit);
    this.#repeats = new Uint32Array(2 * this.#limit);
    this.#merged = new Summary(2 * this.#limit);
  }

  push(value: number): void {
    const last = this.#queued - 1;
    if (last >= 0 && this.#queue[last] === value) {
      this.#repeats[last]++;
      return;
    }
    if (this.#queued === this.#queue.length) {
      this.#summarise();
      this.#climb();
    }
    this.#queue[this.#queued] = value;
    this.#repeats[this.#queued++] = 1;
  }

  /** @returns what has been pushed, as at most `sizeMax` entries */
  finish(sizeMax: number): Summary {
    this.#summarise();
    const all = new Summary(this.#limit);
    all.prune(this.#merged, this.#limit);
    for (const level of this.#levels) {
      if (level.size === 0) continue;
      this.#merged.combine(all, level);
      all.prune(this.#merged, this.#limit);
    }
    const pruned = new Summary(sizeMax);
    pruned.prune(all, sizeMax);
    return pruned;
  }

  /** Empties the queue into an exact summary. */
  #summarise(): void {
    const distinct = distinctValues(this.#queue.slice(0, this.#queued).sort());
    const counts = new Float64Array(distinct.length);
    for (let i = 0; i < this.#queued; i++) counts[placeOf(this.#queue[i], distinct)] += this.#repeats[i];
    this.#merged.size = 0;
    let before = 0;
    distinct.forEach((value, i) => {
      const through = float(before + counts[i]);
      this.#merged.push(value, before, through, counts[i]);
      before = through;
    });
    this.#queued = 0;
  }

  #climb(): void {
    const pruned = new Summary(this.#limit);
    for (let level = 0; ; level++) {
      const held = (this.#levels[level] ??= new Summary(this.#limit));
      if (held.size === 0) return held.prune(this.#merged, this.#limit);
      pruned.prune(this.#merged, this.#limit);
      this.#merged.combine(pruned, held);
      if (this.#merged.size <= this.#limit) return held.copy(this.#merged);
      held.size = 0;
    }
  }
}

function distinctValues(sorted: Float32Array): Float32Array {
  let count = 0;
  for (const value of sorted) if (count === 0 || value !== sorted[count - 1]) sorted[count++] = value;
  return sorted.subarray(0, count);
}

/** The place of a value that is among them. */
function placeOf(value: number, distinct: Float32Array): number {
  let [low, high] = [0, distinct.length - 1];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (distinct[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Entries of a summary, such that the levels of them that `count` values need have an error of `precision` at most. */
function summarySize(count: number, precision: number): number {
  for (let levels = 1; ; levels++) {
    const size = Math.min(count, Math.ceil(levels / precision) + 1);
    if (2 ** levels * size >= count) return size;
  }
}

/**
 * What `binFeature` cuts, as XGBoost's sketch finds it.
 * @param values NaN: missing
 */
export function sketchedSummary(values: Float32Array, maxBin: number): ColumnSummary {
  let presentCount = 0;
  for (const value of values) if (!Number.isNaN(value)) presentCount++;
  if (presentCount === 0) return { rowCount: values.length, presentCount, smallest: NaN, values: new Float32Array(0) };
  const sketch = new QuantileSketch(presentCount, maxBin);
  for (const value of values) if (!Number.isNaN(value)) sketch.push(value + 0);
  const reduced = sketch.finish(Math.min(presentCount, maxBin * precisionFactor));
  const final = new Summary(maxBin + 1);
  final.prune(reduced, Math.min(maxBin, presentCount) + 1);
  const kept = final.value.slice(0, final.size);
  return { rowCount: values.length, presentCount, smallest: kept[0], values: kept };
}
