import { expect, test } from "vitest";
import type { AlarmEvent } from "./events.ts";
import { jobView } from "./fold-events.ts";
import { logTo } from "./log.ts";

const alarm: AlarmEvent = {
  type: "alarm",
  party: "bank",
  peer: "shop",
  tree: 2,
  node: 5,
  message: "40 of its candidates are the best alike for 90 people",
};
const words = "shop in tree 3: 40 of its candidates are the best alike for 90 people";

test("an alarm is a warning in the log, in words and as JSON", () => {
  for (const [level, count] of [
    ["warn", 1],
    ["error", 0],
  ] as const) {
    const written: string[] = [];
    for (const terminal of [true, false])
      logTo({ level, terminal, write: (text) => void written.push(text), now: () => new Date(0) })(alarm);
    expect(written).toHaveLength(2 * count);
    if (count === 0) continue;
    expect(written[0]).toContain(`bank: ${words}`);
    expect(JSON.parse(written[1])).toMatchObject({ level: "warn", event: "alarm", peer: "shop", tree: 3, node: 5 });
  }
});

test("the view of a job has the first few", () => {
  const { alarms } = jobView(Array.from({ length: 9 }, (_, at) => ({ ...alarm, at })));
  expect(alarms).toEqual(Array.from({ length: 5 }, () => words));
});
