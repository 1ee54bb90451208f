import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratchDirectory } from "../../../test/support/command.ts";
import { expectError } from "../../../test/support/expect-error.ts";
import type { PartyEvent } from "../../record/events.ts";
import { type MetricsFlags, serveMetrics, type ServedMetrics } from "./party-metrics.ts";

const alarm: PartyEvent = { type: "alarm", party: "shop", peer: "bank", words: "a limit is nearly used up" };

async function served(flags: Partial<MetricsFlags>) {
  const said: string[] = [];
  const passedOn: PartyEvent[] = [];
  const all = { metricsPort: "0", metricsHost: "127.0.0.1", ...flags };
  const metrics: ServedMetrics = await serveMetrics(
    all,
    false,
    (event) => passedOn.push(event),
    (text) => said.push(text),
  );
  return { metrics, passedOn, url: said[0]?.replace("metrics: ", "") ?? "" };
}

test("metrics are served to Prometheus; events are passed on", async () => {
  const { metrics, passedOn, url } = await served({});
  metrics.emit(alarm);
  const response = await fetch(url);
  expect(response.headers.get("content-type")).toContain("version=0.0.4");
  expect(await response.text()).toContain("\ntandem_alarms_total 1\n");
  expect(passedOn).toEqual([alarm]);
  expect((await fetch(url, { method: "POST" })).status).toBe(405);
  expect((await fetch(url.replace("/metrics", "/jobs"))).status).toBe(404);
  await metrics.close();
});

test("with a token file, requests without the token are refused", async () => {
  const file = join(scratchDirectory(), "token");
  writeFileSync(file, "a-token-of-some-length\n", { mode: 0o600 });
  const { metrics, url } = await served({ metricsTokenFile: file });
  expect((await fetch(url)).status).toBe(401);
  expect((await fetch(url, { headers: { authorization: "Bearer a-token-of-some-length" } })).status).toBe(200);
  await metrics.close();
});

test("beyond this machine there must be a token; without a port there is no server", async () => {
  await expectError(() => served({ metricsHost: "0.0.0.0" }), "USAGE", /--metrics-token-file/);
  await expectError(() => served({ metricsPort: "http" }), "USAGE", /--metrics-port/);
  const emit = (): void => {};
  expect((await serveMetrics({ metricsHost: "127.0.0.1" }, false, emit, () => {})).emit).toBe(emit);
});
