/** For work that is awaited later, or in several places: a rejection before that does not count as unhandled. */
export function ignoreUnhandled<T>(work: Promise<T>): Promise<T> {
  work.catch(() => {});
  return work;
}
