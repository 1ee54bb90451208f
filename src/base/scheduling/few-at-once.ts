/** Processes many items with limited concurrency; after a failure nothing new is started. */
export async function fewAtOnce<T>(
  items: Iterable<T>,
  countMax: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  let hasFailed = false;
  const lane = async (): Promise<void> => {
    while (!hasFailed) {
      const next = iterator.next();
      if (next.done === true) return;
      try {
        await work(next.value);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: countMax }, lane));
}
