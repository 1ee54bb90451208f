import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { HttpLoad, percentile } from "./load.ts";

let server: Server | undefined;
let load: HttpLoad | undefined;
afterEach(() => {
  load?.close();
  server?.close();
});

/** A server that notes how many requests it has at a time. */
async function start(
  answer: (url: string) => { status: number; text: string },
  delayMs = 5,
): Promise<{ load: HttpLoad; most: () => number; bodies: string[] }> {
  let now = 0;
  let most = 0;
  const bodies: string[] = [];
  server = createServer((request, response) => {
    most = Math.max(most, ++now);
    let body = "";
    request.on("data", (more: Buffer) => (body += more.toString()));
    const end = (): void => {
      now--;
      bodies.push(body);
      const { status, text } = answer(request.url ?? "");
      response.writeHead(status).end(text);
    };
    request.on("end", () => (delayMs === 0 ? end() : setTimeout(end, delayMs)));
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", () => resolve()));
  load = new HttpLoad((server.address() as AddressInfo).port);
  return { load, most: () => most, bodies };
}

test("closed: every request once, as many at a time as there are clients", async () => {
  const { load, most, bodies } = await start(() => ({ status: 200, text: "ok" }));
  const { latenciesMs } = await load.closed(4, 30, (index) => ({
    method: "POST",
    path: "/",
    body: String(index),
    check: (text) => expect(text).toBe("ok"),
  }));
  expect(most()).toBe(4);
  expect(bodies.map(Number).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, i) => i));
  expect(latenciesMs).toEqual(latenciesMs.toSorted());
  expect(latenciesMs[0]).toBeGreaterThan(0);
});

test("open: requests do not wait for answers", async () => {
  const { load, most } = await start(() => ({ status: 200, text: "" }));
  const { latenciesMs } = await load.open(2000, 40, () => ({ method: "GET", path: "/", body: "", check: () => {} }));
  expect(latenciesMs).toHaveLength(40);
  expect(most()).toBeGreaterThan(1);
});

test("open: no answer is older than its request, although timers ring up to a millisecond early", async () => {
  const { load } = await start(() => ({ status: 200, text: "" }), 0);
  const { latenciesMs } = await load.open(270, 100, () => ({ method: "GET", path: "/", body: "", check: () => {} }));
  expect(latenciesMs[0]).toBeGreaterThan(0);
});

test("open: a stalled client counts for the requests that it delays", async () => {
  const { load } = await start(() => ({ status: 200, text: "" }), 0);
  const stall = (index: number): void => {
    const until = performance.now() + (index === 0 ? 50 : 0);
    while (performance.now() < until);
  };
  const { latenciesMs } = await load.open(1000, 10, (index) => {
    stall(index);
    return { method: "GET", path: "/", body: "", check: () => {} };
  });
  expect(latenciesMs[0]).toBeGreaterThan(40); // the last was due after 9 ms, and could be sent after 50
});

test("a bad answer ends the load", async () => {
  const { load } = await start(() => ({ status: 503, text: "overloaded" }));
  await expectError(
    () => load.closed(1, 3, () => ({ method: "GET", path: "/x", body: "", check: () => {} })),
    "PROTOCOL_STATE",
    /\/x answered 503: overloaded/,
  );
});

test("percentiles by nearest rank", () => {
  const sorted = Float64Array.from({ length: 200 }, (_, i) => i + 1);
  expect([0, 50, 99, 100].map((percent) => percentile(sorted, percent))).toEqual([1, 100, 198, 200]);
});
