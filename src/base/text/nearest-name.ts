/** "Did you mean ...?": the known name that is nearest to a misspelt one. */

/** The number of names that a message lists if none is near. */
const listedMax = 12;

/** The end of a message about an unknown name: the nearest name, otherwise a list of the known names, if any. */
export function suggestion(name: string, candidates: readonly string[]): string {
  const known = candidates.length === 0 ? "" : `; there are: ${listed(candidates)}`;
  return didYouMean(name, candidates) || known;
}

/** The end of a message that lists the candidates already: the nearest name, or nothing. */
export function didYouMean(name: unknown, candidates: readonly string[]): string {
  const nearest = typeof name === "string" ? nearestName(name, candidates) : null;
  return nearest === null ? "" : `; did you mean '${nearest}'?`;
}

/**
 * The candidate with the smallest edit distance. If none is within a third of the longer name's length: the only one
 * that contains the name, as "default.payment" contains "default"; otherwise null.
 */
export function nearestName(name: string, candidates: readonly string[]): string | null {
  let best: string | null = null;
  let bestDistance = Infinity;
  for (const candidate of candidates) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    const isNear = distance * 3 <= Math.max(name.length, candidate.length);
    if (isNear && distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best ?? onlyOneWith(name, candidates);
}

/** Shorter names are in others by chance. */
const containedMin = 4;

function onlyOneWith(part: string, candidates: readonly string[]): string | null {
  if (part.length < containedMin) return null;
  const found = candidates.filter((candidate) => candidate.toLowerCase().includes(part.toLowerCase()));
  return found.length === 1 ? found[0] : null;
}

/** The first dozen names, and how many more there are. */
function listed(names: readonly string[]): string {
  const shown = names.slice(0, listedMax).map((name) => `'${name}'`);
  const rest = names.length - shown.length;
  return `${shown.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}

/** Insertions, deletions, substitutions, and transpositions of neighbours. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitute = previous[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwap ? beforeLast[j - 2] + 1 : Infinity;
      current.push(Math.min(substitute, swap, previous[j] + 1, current[j - 1] + 1));
    }
    [beforeLast, previous] = [previous, current];
  }
  return previous[b.length];
}
