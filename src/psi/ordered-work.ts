/**
 * A stream through asynchronous work, several items at a time, results in the order of the items. No more than `ahead`
 * items are under way, whatever the length of the stream; a result that is ready does not wait for the next item.
 */
export async function* inOrder<Item, Result>(
  items: AsyncIterable<Item>,
  ahead: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result, void, undefined> {
  const iterator = items[Symbol.asyncIterator]();
  const underWay: Promise<Result>[] = [];
  let next: Promise<IteratorResult<Item>> | null = watched(iterator.next());
  try {
    while (next !== null || underWay.length > 0) {
      if (next !== null && underWay.length < ahead) {
        if (underWay.length === 0 || (await firstOf(next, underWay[0])) === "next") {
          const item: IteratorResult<Item> = await next;
          if (item.done === true) next = null;
          else {
            underWay.push(watched(work(item.value)));
            next = watched(iterator.next());
          }
          continue;
        }
      }
      const [oldest] = underWay.splice(0, 1);
      yield await oldest;
    }
  } finally {
    // Not awaited: a source that waits for its own source would keep the failure from being seen.
    if (next !== null) void watched(Promise.resolve(iterator.return?.()));
  }
}

async function firstOf(next: Promise<unknown>, result: Promise<unknown>): Promise<"next" | "result"> {
  return Promise.race([next.then(() => "next" as const), result.then(() => "result" as const)]);
}

/** A promise that may be awaited later or never: its failure is no unhandled rejection. */
function watched<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
