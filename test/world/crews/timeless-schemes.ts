/** The schemes as workers in simulated time have them: their computations take none of it. */
import type { WorkerOptions } from "../../../src/crew/worker.ts";
import { schemeNamed } from "../../../src/scheme/registry.ts";
import type { TickingClock } from "./ticking-clock.ts";

export function timelessSchemes(clock: TickingClock): WorkerOptions["schemeNamed"] {
  return (name) => {
    const { block, task } = schemeNamed(name);
    return {
      ...(block && {
        block: (data, options) => {
          const work = block(data, options);
          return {
            begin: () => work.begin(),
            take: (entry) => clock.during(work.take(entry)),
            answer: (question) =>
              clock.during(work.answer(question).then((answer) => ({ bytes: () => clock.during(answer.bytes()) }))),
          };
        },
      }),
      ...(task && {
        task: async (terms, options) => {
          const work = await clock.during(task(terms, options));
          return { do: (one) => clock.during(work.do(one)) };
        },
      }),
    };
  };
}
