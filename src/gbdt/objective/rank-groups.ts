/** Rows of the same group, which are ranked among each other. */

/** @param rows those that count, ascending; null: all. @returns per group its rows, ascending */
export function rankGroups(groups: Float64Array, rows: Uint32Array | null): Uint32Array[] {
  const members = new Map<number, number[]>();
  const add = (row: number): void => {
    const group = members.get(groups[row]);
    if (group === undefined) members.set(groups[row], [row]);
    else group.push(row);
  };
  if (rows === null) groups.forEach((_, row) => add(row));
  else for (const row of rows) add(row);
  return Array.from(members.values(), (group) => Uint32Array.from(group));
}

/** Rows by descending score; in row order for equal scores. */
export function ranked(rows: Uint32Array, scores: ArrayLike<number>): Uint32Array {
  return rows.slice().sort((a, b) => scores[b] - scores[a] || a - b);
}

/** The gain of a label: 2^label - 1, or the label itself. */
export function relevanceGain(label: number, isExponential: boolean): number {
  return isExponential ? 2 ** label - 1 : label;
}

/** The discount of a position, counted from 0. */
export function discountAt(place: number): number {
  return 1 / Math.log2(place + 2);
}

/** Discounted gain of labels in this order, up to a number of positions. */
export function discountedGain(labels: readonly number[], places: number, isExponential: boolean): number {
  let sum = 0;
  for (let place = 0; place < Math.min(labels.length, places); place++)
    sum += relevanceGain(labels[place], isExponential) * discountAt(place);
  return sum;
}

/** The same for the ideal order. */
export function idealGain(labels: readonly number[], places: number, isExponential: boolean): number {
  return discountedGain(
    labels.toSorted((a, b) => b - a),
    places,
    isExponential,
  );
}
