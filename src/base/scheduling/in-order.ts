/** Work on things of a row, some ahead of whoever reads; what comes out is in their order. */
export async function* inOrder<T, R>(
  items: Iterable<T>,
  aheadMax: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const begun: Promise<R>[] = [];
  for (const item of items) {
    const next = work(item);
    next.catch(() => {}); // seen when it is its turn; nobody looks after an earlier failure
    begun.push(next);
    if (begun.length < aheadMax) continue;
    const due = begun.shift();
    if (due !== undefined) yield await due;
  }
  for (const due of begun) yield await due;
}
