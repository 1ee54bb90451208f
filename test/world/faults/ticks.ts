/** Lets the event loop tick a number of times: how time passes in a simulation. */
export async function ticks(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
}
