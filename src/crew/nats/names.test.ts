import { expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { statusStream, epochNames, isOfAnEpoch } from "./names.ts";

test("streams of an epoch are recognised by name; status tables and crews with longer names are not", () => {
  const names = epochNames("shop", "a1f0");
  const queues = [names.queueStream("hold"), names.queueStream("task.pack")];
  for (const stream of [names.stream("log.3"), names.stream("sum.>"), names.stream("done.1"), ...queues])
    expect(isOfAnEpoch("shop", stream), stream).toBe(true);
  for (const stream of [
    statusStream("shop", "lasting"),
    statusStream("shop", "passing"),
    epochNames("shop-2", "a1f0").stream("log.3"),
    epochNames("shop-a1f0", "b2").queueStream("task"),
    statusStream("shop-a1f0-tasks", "lasting"),
    "tandem-shop",
    "orders",
  ])
    expect(isOfAnEpoch("shop", stream), stream).toBe(false);
});

test("subjects round-trip", () => {
  const names = epochNames("shop", "a1f0");
  expect(names.stored("sum.0.1")).toBe("tandem.shop.a1f0.sum.0.1");
  expect(names.own(names.stored("sum.0.1"))).toBe("sum.0.1");
  expect(names.own(names.said("held.3"))).toBe("held.3");
});

test.each(["", "log..1", "log.*", "log.>.1", ">", "log 1", "log.\r\nPUB"])(
  "'%s' is not a valid subject",
  async (subject) => {
    const names = epochNames("shop", "a1f0");
    await expectError(() => names.stored(subject), "INTERNAL", /words separated by dots/);
  },
);

test("stored messages have a known kind, and names are words", async () => {
  await expectError(() => epochNames("shop", "a1f0").stream("logs.1"), "INTERNAL", /one of log, sum, done/);
  await expectError(() => epochNames("shop", "a1f0").queueStream("held"), "INTERNAL", /one of hold, task/);
  await expectError(() => epochNames("shop.x", "a1f0"), "INTERNAL");
  await expectError(() => epochNames("shop", "a-1"), "INTERNAL");
});
