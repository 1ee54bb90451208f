import { expect, test } from "vitest";
import { TandemError } from "../base/error.ts";
import type { PartyEvent } from "../record/events.ts";
import { ScoringMeter } from "./scoring-meter.ts";

function make(): { meter: ScoringMeter; events: PartyEvent[]; wait(ms: number): void } {
  let now = 0;
  const events: PartyEvent[] = [];
  return {
    meter: new ScoringMeter(
      "shop",
      (event) => events.push(event),
      () => now,
    ),
    events,
    wait: (ms) => void (now += ms),
  };
}

const request = { peer: "bank", job: "spring", model: "ab", idCount: 3, unknownCount: 1 };

test("the first answer is logged at once, further ones in sums of a minute, the last when the party stops", () => {
  const { meter, events, wait } = make();
  meter.answered(request);
  for (let i = 0; i < 5; i++) meter.answered(request);
  expect(events).toEqual([
    {
      type: "scored",
      party: "shop",
      peer: "bank",
      job: "spring",
      model: "ab",
      requestCount: 1,
      idCount: 3,
      unknownCount: 1,
    },
  ]);
  wait(60_000);
  meter.answered({ ...request, peer: "rival", idCount: 1, unknownCount: 0 });
  expect(events.slice(1)).toMatchObject([
    { peer: "bank", requestCount: 5, idCount: 15, unknownCount: 5 },
    { peer: "rival", requestCount: 1, idCount: 1, unknownCount: 0 },
  ]);
  meter.answered(request);
  meter.close();
  meter.close();
  expect(events.slice(3)).toMatchObject([{ peer: "bank", requestCount: 1 }]);
});

test("the same message is logged once a minute, another at once", () => {
  const { meter, events, wait } = make();
  const error = new TandemError("POLICY", "no");
  for (let i = 0; i < 10; i++) meter.refused("bank", error);
  meter.refused("rival", error);
  meter.trouble(new TandemError("FILE_FORMAT", "damaged"));
  expect(events.map((event) => [event.type, "peer" in event ? event.peer : ""])).toEqual([
    ["refused", "bank"],
    ["refused", "rival"],
    ["error", ""],
  ]);
  wait(60_000);
  meter.refused("bank", error);
  expect(events).toHaveLength(4);
});
