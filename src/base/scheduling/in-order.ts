/** Processes items with limited concurrency ahead of the reader; results are in the order of the items. */
export async function* inOrder<T, R>(
  items: Iterable<T>,
  aheadMax: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const begun: Promise<R>[] = [];
  for (const item of items) {
    const next = work(item);
    next.catch(() => {}); // awaited in order; ignored after an earlier failure
    begun.push(next);
    if (begun.length < aheadMax) continue;
    const due = begun.shift();
    if (due !== undefined) yield await due;
  }
  for (const due of begun) yield await due;
}
