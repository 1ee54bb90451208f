/**
 * Applies work to the items of a sequence, a limited number at a time, and yields the results in the order of the
 * items.
 */
export async function* workedAhead<T, R>(
  items: AsyncIterable<T>,
  work: (item: T) => Promise<R>,
  ahead: number,
): AsyncGenerator<R> {
  const begun: { readonly result: Promise<R> }[] = [];
  const state = { isOver: false, tell: (): void => {} };
  // The reader waits only if much is begun, and the loop below only if nothing is.
  const changed = (): Promise<void> => new Promise((resolve) => (state.tell = resolve));
  const reading = (async () => {
    for await (const item of items) {
      if (state.isOver) return;
      const result = work(item);
      result.catch(() => {}); // thrown where it is yielded
      begun.push({ result });
      state.tell();
      while (begun.length >= ahead && !state.isOver) await changed();
      if (state.isOver) return;
    }
  })().finally(() => {
    state.isOver = true;
    state.tell();
  });
  reading.catch(() => {}); // thrown below
  try {
    for (;;) {
      const [next] = begun;
      if (next !== undefined) {
        const result = await next.result;
        begun.splice(0, 1);
        state.tell();
        yield result;
      } else if (state.isOver) return await reading;
      else await changed();
    }
  } finally {
    state.isOver = true;
    state.tell();
  }
}
