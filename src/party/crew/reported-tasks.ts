/** Says now and then how many tasks a worker has done, as long as it does some. */
const tellMs = 10_000;

/** @returns what ends it, and says the rest */
export function tellTasks(done: () => number, tell: (tasks: number) => void): () => void {
  let reported = 0;
  const look = (): void => {
    if (done() === reported) return;
    tell(done() - reported);
    reported = done();
  };
  const timer = setInterval(look, tellMs);
  return () => {
    clearInterval(timer);
    look();
  };
}
