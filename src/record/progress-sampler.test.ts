import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Phase } from "../protocol/phase.ts";
import type { EventOf } from "./events.ts";
import { merged, ProgressSampler } from "./progress-sampler.ts";

beforeEach(() => vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => vi.useRealTimers());

function sampled(decides: boolean) {
  const events: EventOf<"progress">[] = [];
  const sampler = new ProgressSampler({
    party: "bank",
    decides,
    bytes: () => ({}),
    emit: (event) => events.push(event),
  });
  const edge = (party: string, phase: Phase, began: boolean, level = 0): void =>
    sampler.edge({ party, phase, began, tree: 0, level });
  return { events, sampler, edge };
}

test("hundreds of edges a second become one snapshot every three seconds", () => {
  const { events, edge } = sampled(false);
  for (let i = 0; i < 1500; i++) {
    edge("bank", "encrypt", i % 2 === 0);
    vi.advanceTimersByTime(4);
  }
  // Six seconds of them: one at once, and one three seconds later.
  expect(events).toHaveLength(2);
});

test("the next tree is reported as soon as it has begun", () => {
  const { events, sampler, edge } = sampled(false);
  edge("bank", "encrypt", true);
  sampler.treeEnded();
  edge("bank", "encrypt", true);
  vi.advanceTimersByTime(30);
  expect(events.map(({ doing }) => doing)).toEqual([{}, { bank: "encrypt" }]);
});

test("an edge after a quiet time is reported at once, and the following ones three seconds later", () => {
  const { events, edge } = sampled(false);
  edge("bank", "encrypt", true);
  vi.advanceTimersByTime(30);
  expect(events).toHaveLength(1);
  edge("bank", "encrypt", false);
  vi.advanceTimersByTime(2999);
  expect(events).toHaveLength(1);
  vi.advanceTimersByTime(2);
  expect(events).toHaveLength(2);
});

test("when no other phase is open the active party decides, and a passive one does not", () => {
  for (const decides of [true, false]) {
    const { events, sampler, edge } = sampled(decides);
    edge("shop", "aggregate", true);
    vi.advanceTimersByTime(100);
    edge("shop", "aggregate", false);
    vi.advanceTimersByTime(50);
    edge("shop", "aggregate", true, 1);
    vi.advanceTimersByTime(30);
    sampler.treeEnded();
    const spans = events.flatMap((event) => event.spans);
    expect(spans.map(({ party, phase, level, from, to }) => [party, phase, level, to - from])).toEqual([
      ["shop", "aggregate", 0, 100],
      ...(decides ? [["bank", "decide", 1, 50]] : []),
      ["shop", "aggregate", 1, 30],
    ]);
  }
});

test("a snapshot has the phase of each party, and no phase stays open after a tree", () => {
  const { events, sampler, edge } = sampled(true);
  edge("bank", "encrypt", true);
  edge("shop", "send", true);
  vi.advanceTimersByTime(300);
  expect(events[0].doing).toEqual({ bank: "encrypt", shop: "send" });
  sampler.treeEnded();
  expect(events[1].doing).toEqual({});
  expect(events[1].spans).toHaveLength(2);
});

test("consecutive pieces of the same work become one; others stay separate", () => {
  const span = (phase: Phase, from: number, to: number, level = 0) => ({
    party: "bank",
    phase,
    tree: 0,
    level,
    from,
    to,
  });
  expect(
    merged([
      span("decrypt", 0, 10),
      span("encrypt", 5, 8),
      span("decrypt", 15, 20),
      span("decrypt", 100, 110),
      span("decrypt", 111, 120, 1),
      span("decide", 7, 7),
    ]),
  ).toEqual([span("decrypt", 0, 20), span("encrypt", 5, 8), span("decrypt", 100, 110), span("decrypt", 111, 120, 1)]);
});
