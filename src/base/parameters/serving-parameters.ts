/** What a scoring server takes, and how it batches. */
import type { ParameterSpec, ValuesOf } from "./parameter-spec.ts";

export const servingParameters = {
  window_ms: {
    kind: "number",
    default: 2,
    min: 0,
    max: 1000,
    help: "how long the first request of a batch waits for others",
  },
  batch_ids: { kind: "integer", default: 1000, min: 1, max: 100_000, help: "ids that travel together in one batch" },
  batches: { kind: "integer", default: 4, min: 1, max: 64, help: "batches under way at a time" },
  queue_ids: {
    kind: "integer",
    default: 10_000,
    min: 1,
    max: 10_000_000,
    help: "ids that may wait; further requests are turned away",
  },
  timeout_ms: { kind: "integer", default: 5000, min: 10, max: 600_000, help: "how long a request may take" },
  request_ids: { kind: "integer", default: 1000, min: 1, max: 100_000, help: "people of one request" },
  request_bytes: { kind: "integer", default: 8_388_608, min: 1024, max: 1_073_741_824, help: "size of one request" },
} as const satisfies Record<string, ParameterSpec>;

export type ServingParameters = ValuesOf<typeof servingParameters>;
