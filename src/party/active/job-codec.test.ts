import { expect, test } from "vitest";
import { codecParameters, privacyParameters, resolveParameters } from "../../base/parameters/parameters.ts";
import { trainingParameters } from "../../gbdt/parameters/training-parameters.ts";
import type { PartyEvent } from "../../record/events.ts";
import type { ActiveConfig } from "../config/config.ts";
import { withCodecOfJob } from "./job-codec.ts";

const config = {
  name: "bank",
  job: "spring",
  scheme: "lattice",
  keyBits: 2048,
  training: resolveParameters(trainingParameters, { num_round: 100, max_depth: 6 }),
  codec: resolveParameters(codecParameters, {}),
  privacy: resolveParameters(privacyParameters, {}),
} as ActiveConfig;
const rows = { rows: 18_300 };

function taken(changes: Partial<ActiveConfig>, stored?: number): { bits: number; events: PartyEvent[] } {
  const events: PartyEvent[] = [];
  const { codec } = withCodecOfJob({ ...config, ...changes }, rows, (event) => events.push(event), stored);
  return { bits: codec.resolution_bits, events };
}

test("a coarser grid than was asked for is said; what was stored with the job is taken again", () => {
  const { bits, events } = taken({});
  expect(bits).toBeLessThan(24);
  const said = { type: "resolution", party: "bank", job: "spring", scheme: "lattice", asked: 24, resolutionBits: bits };
  expect(events).toEqual([said]);
  expect(taken({}, 15)).toEqual({ bits: 15, events: [{ ...said, resolutionBits: 15 }] });
});

test("nothing is said of a grid that is as fine as was asked for", () => {
  const coarse = resolveParameters(codecParameters, { resolution_bits: 12 });
  expect(taken({ codec: coarse })).toEqual({ bits: 12, events: [] });
  expect(taken({ scheme: "paillier" })).toEqual({ bits: 24, events: [] });
});
