/**
 * Seeded deviations: a guilty party is named, and no honest one ever. `npm run campaigns` runs 500 of each scheme; a
 * failure shows its seed.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { TandemError } from "../src/base/error.ts";
import { SeededRandom } from "../src/base/random.ts";
import { checkOpenings } from "../src/verify/check.ts";
import { deviations, outcomeOf } from "../src/verify/findings.ts";
import type { Opening } from "../src/verify/opening.ts";
import { seedCount } from "./support/campaign.ts";
import { type SeededDeviation, seededDeviation } from "./support/seeded-deviations.ts";
import { auditorPins, signers, verifiedJob } from "./support/verified-job.ts";

const root = mkdtempSync(join(tmpdir(), "tandem-seeded-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const seeds = Array.from({ length: seedCount({ test: 6, campaign: 500 }) }, (_, i) => i + 1);
const perTest = 6;
const groups = Array.from({ length: Math.ceil(seeds.length / perTest) }, (_, i) =>
  seeds.slice(i * perTest, (i + 1) * perTest),
);

describe.each(["paillier", "lattice"] as const)("%s", (scheme) => {
  test.each(groups)("seeds from %i on", { timeout: 120_000 }, async (...group) => {
    for (const seed of group) {
      const deviation = seededDeviation(seed, scheme);
      expect(await judged(seed, deviation), `seed ${seed}: ${deviation.name}`).toBeNull();
    }
  });
});

/** @returns what is wrong with the verdict; null: nothing */
async function judged(seed: number, deviation: SeededDeviation): Promise<string | null> {
  const made = await openingsOf(seed, deviation);
  const openings = made?.openings ?? null;
  if (openings === null) return deviation.guilty.size > 0 ? null : "an honest job was refused";
  const verdict = await checkOpenings(openings, { pins: await auditorPins(), trees: null });
  const named = new Set(deviations(verdict).map(({ party }) => party));
  const innocent = [...named].find((party) => party === null || !deviation.guilty.has(party));
  if (innocent !== undefined) return `${innocent} is named: ${JSON.stringify(deviations(verdict))}`;
  if (deviation.guilty.size === 0) return outcomeOf(verdict) === "as agreed" ? null : JSON.stringify(verdict);
  return named.size === 0 && (deviation.isCertain || made?.isChanged === true) ? "the guilty party is not named" : null;
}

interface Made {
  readonly openings: readonly Opening[];
  /** An opening is not what the job has left. */
  readonly isChanged: boolean;
}

/** @returns null if the job itself refused the deviation */
async function openingsOf(seed: number, { job, evasion }: SeededDeviation): Promise<Made | null> {
  let openings: readonly Opening[];
  try {
    openings = await verifiedJob(join(root, String(seed)), job);
  } catch (error) {
    if (error instanceof TandemError) return null;
    throw error;
  } finally {
    rmSync(join(root, String(seed)), { recursive: true, force: true });
  }
  if (evasion === null) return { openings, isChanged: false };
  const [own, deceived] = evasion.party === "bank" ? [0, 1] : [1, 0];
  const random = new SeededRandom(`evasion/${seed}`);
  const changed = evasion.change({
    opening: openings[own],
    other: openings[deceived],
    signer: (await signers())[own],
    draw: (n) => random.below(n),
  });
  const isChanged = JSON.stringify(changed) !== JSON.stringify(openings[own]);
  return { openings: openings.map((opening, i) => (i === own ? changed : opening)), isChanged };
}
