import { expect, test } from "vitest";
import type { PartyEvent } from "../../record/events.ts";
import type { ActiveConfig } from "../config/config.ts";
import { type GivenJob, resolveJob } from "../resolve-job.ts";
import { withCodecOfJob } from "./job-codec.ts";

const asked: GivenJob = { name: "spring", scheme: "lattice", training: { num_round: 100, max_depth: 6 } };

function taken(changes: GivenJob, stored?: number): { bits: number; events: PartyEvent[] } {
  const events: PartyEvent[] = [];
  const config = { name: "bank", job: resolveJob({ ...asked, ...changes }) } as ActiveConfig;
  const { job } = withCodecOfJob(config, 18_300, (event) => events.push(event), stored);
  return { bits: job.codec.resolution_bits, events };
}

test("a coarser grid than requested is reported; the stored resolution is used again", () => {
  const { bits, events } = taken({});
  expect(bits).toBeLessThan(24);
  const said = { type: "resolution", party: "bank", job: "spring", scheme: "lattice", asked: 24, resolutionBits: bits };
  expect(events).toEqual([said]);
  expect(taken({}, 15)).toEqual({ bits: 15, events: [{ ...said, resolutionBits: 15 }] });
});

test("a grid that is coarser for hidden sums is reported as such, and not where the scheme needs a coarser one", () => {
  const hidden = taken({ scheme: "paillier", privacy: { hidden_sums: true } });
  expect(hidden.bits).toBe(12);
  expect(hidden.events).toMatchObject([{ asked: 24, resolutionBits: 12, isForHiddenSums: true }]);
  const [ofScheme] = taken({}).events;
  expect(ofScheme).not.toHaveProperty("isForHiddenSums");
});

test("nothing is reported for the requested grid", () => {
  expect(taken({ codec: { resolution_bits: 12 } })).toEqual({ bits: 12, events: [] });
  expect(taken({ scheme: "paillier" })).toEqual({ bits: 24, events: [] });
});
