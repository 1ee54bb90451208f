/** Grafana's dashboards of deploy/: each query names metrics that exist, and each metric is on a dashboard. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { packagePath } from "../src/base/package-root.ts";
import { PartyMetrics } from "../src/record/party-metrics.ts";
import { RelayMetrics } from "../src/relay/relay-metrics.ts";
import { ServerMetrics } from "../src/scoring/http/server-metrics.ts";

interface Dashboard {
  readonly uid: string;
  readonly panels: readonly {
    readonly title: string;
    readonly description: string;
    readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
}

const files = readdirSync(packagePath("deploy", "grafana"));
const dashboards = files.map((file) => ({
  file,
  board: JSON.parse(readFileSync(packagePath("deploy", "grafana", file), "utf8")) as Dashboard,
}));

/** Names with their types, as the code exports them. */
const declared = new Map(
  [new PartyMetrics(), new ServerMetrics(() => []), new RelayMetrics()].flatMap((metrics) =>
    [...metrics.text().matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type] as const),
  ),
);

const queries = dashboards.flatMap(({ file, board }) =>
  board.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ where: `${file}, ${title}`, expr }))),
);

const namesIn = (expr: string): string[] => [...expr.matchAll(/\btandem_\w+/g)].map(([name]) => name);

test("there is a dashboard for party, workers, scoring server and relay", () => {
  expect(files.toSorted()).toEqual(["crew.json", "party.json", "relay.json", "serve.json"]);
  expect(new Set(dashboards.map(({ board }) => board.uid)).size).toBe(4);
});

test("each query names a metric that exists, and counters are rates or increases", () => {
  for (const { where, expr } of queries) {
    const names = namesIn(expr);
    expect(names.length, where).toBeGreaterThan(0);
    for (const name of names) {
      const base = name.replace(/_bucket$/, "");
      expect([...declared.keys()], where).toContain(base);
      const type = declared.get(base);
      expect(name.endsWith("_bucket"), where).toBe(type === "histogram");
      expect(/\b(?:rate|increase)\(/.test(expr), where).toBe(type !== "gauge");
    }
    expect([...expr].filter((each) => each === "(").length, where).toBe(
      [...expr].filter((each) => each === ")").length,
    );
  }
});

test("each metric is on a dashboard, and each panel says what it shows", () => {
  const shown = new Set(queries.flatMap(({ expr }) => namesIn(expr).map((name) => name.replace(/_bucket$/, ""))));
  expect([...declared.keys()].filter((name) => !shown.has(name))).toEqual([]);
  for (const { file, board } of dashboards)
    for (const { title, description, targets } of board.panels) {
      expect(description, `${file}, ${title}`).toMatch(/\.$/);
      for (const { legendFormat } of targets) expect(legendFormat, `${file}, ${title}`).not.toBe("");
    }
});
