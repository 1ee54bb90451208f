/** Streams as lists. */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

export async function* one<T>(item: T): AsyncGenerator<T> {
  yield item;
}
