/** "Did you mean ...?": the known name that is nearest to a misspelt one. */

/** The end of a message about an unknown name: "; did you mean 'x'?", or nothing where there is no name to propose. */
export function suggestion(name: string, candidates: readonly string[]): string {
  const nearest = nearestName(name, candidates);
  return nearest === "" ? "" : `; did you mean '${nearest}'?`;
}

/** The candidate with the smallest edit distance. */
export function nearestName(name: string, candidates: readonly string[]): string {
  let best = candidates[0] ?? "";
  let bestDistance = Infinity;
  for (const candidate of candidates) {
    const distance = editDistance(name, candidate);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitute = previous[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(substitute, previous[j] + 1, current[j - 1] + 1));
    }
    previous = current;
  }
  return previous[b.length];
}
