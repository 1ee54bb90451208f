import { describe } from "vitest";
import { engineContract } from "../../support/engine-contract.ts";
import { SeededRandom } from "../../../src/base/random.ts";
import { systemClock } from "../../../src/crew/clock.ts";
import { MemoryEngine } from "./memory-engine.ts";

const times = { leaseMs: 200, statusMs: 300 };

describe("an engine in memory that delays", () => {
  const faults = { random: new SeededRandom("slow"), doubling: 0, delayMs: 3 };
  const engine = new MemoryEngine({ clock: systemClock, ...times, faults });
  const world = { ...times, party: async () => engine.connect(), worker: async () => engine.connect() };
  engineContract(async () => world);
});
