import { expect, test } from "vitest";
import { jobView } from "./fold-events.ts";
import { logTo } from "./log.ts";

const words = "in tree 3: 40 of its candidates are the best alike for 90 people";
const alarm = { type: "alarm", party: "bank", peer: "shop", words } as const;

test("an alarm is a warning in the log, as text and as JSON", () => {
  for (const [level, count] of [
    ["warn", 1],
    ["error", 0],
  ] as const) {
    const written: string[] = [];
    for (const terminal of [true, false])
      logTo({ level, terminal, write: (text) => void written.push(text), now: () => new Date(0) })(alarm);
    expect(written).toHaveLength(2 * count);
    if (count === 0) continue;
    expect(written[0]).toContain(`bank: ALARM about shop: ${words}`);
    expect(JSON.parse(written[1])).toMatchObject({ level: "warn", event: "alarm", peer: "shop", words });
  }
});

test("the view of a job has the first alarms", () => {
  const events = Array.from({ length: 19 }, (_, at) => ({ ...alarm, words: `in tree ${at}: much`, at }));
  const { alarms } = jobView(events);
  expect(alarms).toEqual(events.slice(0, 10).map(({ peer, words: said }) => ({ peer, words: said })));
});
