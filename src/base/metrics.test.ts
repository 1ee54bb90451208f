import { expect, test } from "vitest";
import { Counter, Gauge, Histogram, metricsText } from "./metrics.ts";

test("Prometheus' text format: counters, gauges, cumulative buckets, escaped labels", () => {
  const counter = new Counter("requests_total", "Requests.");
  counter.add({ status: "200", path: "/a" });
  counter.add({ status: "200", path: "/a" }, 2);
  counter.add({ status: 'x"\\\n' });
  const histogram = new Histogram("seconds", "Time.", [0.1, 1]);
  for (const value of [0.05, 0.1, 0.5, 7]) histogram.observe({ party: "shop" }, value);
  expect(metricsText([counter, histogram, new Gauge("queued", "Waiting.", () => 3)])).toBe(
    [
      "# HELP requests_total Requests.",
      "# TYPE requests_total counter",
      'requests_total{status="200",path="/a"} 3',
      'requests_total{status="x\\"\\\\\\n"} 1',
      "# HELP seconds Time.",
      "# TYPE seconds histogram",
      'seconds_bucket{party="shop",le="0.1"} 2',
      'seconds_bucket{party="shop",le="1"} 3',
      'seconds_bucket{party="shop",le="+Inf"} 4',
      'seconds_sum{party="shop"} 7.65',
      'seconds_count{party="shop"} 4',
      "# HELP queued Waiting.",
      "# TYPE queued gauge",
      "queued 3",
      "",
    ].join("\n"),
  );
});
