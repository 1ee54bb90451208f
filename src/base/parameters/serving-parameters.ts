/** Limits and batching of a scoring server. */
import type { ParameterSpec, ValuesOf } from "./parameter-spec.ts";

export const servingParameters = {
  window_ms: {
    kind: "number",
    default: 2,
    min: 0,
    max: 1000,
    help: "how long the first request of a batch waits for others",
  },
  batch_ids: { kind: "integer", default: 1000, min: 1, max: 100_000, help: "ids in one batch, at most" },
  batches: { kind: "integer", default: 4, min: 1, max: 64, help: "batches in progress at the same time, at most" },
  queue_ids: {
    kind: "integer",
    default: 10_000,
    min: 1,
    max: 10_000_000,
    help: "ids that may wait; further requests are refused",
  },
  timeout_ms: { kind: "integer", default: 5000, min: 10, max: 600_000, help: "time limit of a request" },
  request_ids: { kind: "integer", default: 1000, min: 1, max: 100_000, help: "ids in one request, at most" },
  request_bytes: {
    kind: "integer",
    default: 8_388_608,
    min: 1024,
    max: 1_073_741_824,
    help: "bytes of one request, at most",
  },
} as const satisfies Record<string, ParameterSpec>;

export type ServingParameters = ValuesOf<typeof servingParameters>;
