import { expect, test } from "vitest";
import { countingDefences, noDefences } from "../privacy/defences/defences.ts";
import type { Estimate } from "./estimate.ts";
import { recommendation, revealedTexts, type SchemeOutlook } from "./scheme-advice.ts";

function outlook(scheme: "paillier" | "lattice", seconds: number, bytes: number, bits = 24): SchemeOutlook {
  const estimate: Estimate = {
    resolutionBits: bits,
    kernel: "native",
    cores: 2,
    cpuSeconds: seconds,
    wallSeconds: seconds,
    secondsPerTree: seconds,
    activeCpuSeconds: seconds,
    passiveCpuSeconds: [0],
    bytes: { activeToPassive: bytes, passiveToActive: 0 },
    memoryBytes: { active: 0, passives: [0] },
  };
  return {
    scheme,
    key: scheme,
    warning: scheme === "lattice" ? "The lattice scheme is experimental." : null,
    membership: scheme === "lattice" ? ("hidden" as const) : ("sent" as const),
    estimate,
    refusal: null,
  };
}

const job = { rows: 20_000, counting: [] };
const paillier = outlook("paillier", 100, 10e6);

test("the faster one, with the link speed from which it is faster", () => {
  const { scheme, why } = recommendation([paillier, outlook("lattice", 2, 110e6)], job);
  expect(scheme).toBe("lattice");
  expect(why).toMatch(/50 times less CPU, faster over links from 9 Mb\/s on, and passive parties do not learn/);
  expect(why).toMatch(/The lattice scheme is experimental\. Read docs\/lattice\.md first, and use paillier otherwise/);
  expect(recommendation([paillier, outlook("lattice", 2, 9e6)], job).why).not.toContain("Mb/s");
});

test("over a line its bytes decide", () => {
  const over = (of: SchemeOutlook, seconds: number): SchemeOutlook => {
    const overLine = { lineSeconds: seconds, wallSeconds: seconds, secondsPerTree: seconds / 10 };
    return { ...of, estimate: of.estimate && { ...of.estimate, overLine } };
  };
  const lattice = outlook("lattice", 2, 110e6);
  const slow = recommendation([over(paillier, 110), over(lattice, 120)], job);
  expect(slow).toEqual({ scheme: "paillier", why: "over this line lattice would take 12 s per tree, not 11 s" });
  const quick = recommendation([over(paillier, 110), over(lattice, 20)], job);
  expect(quick.scheme).toBe("lattice");
  expect(quick.why).toContain("50 times less CPU, 2.0 s per tree over this line, and passive parties");
});

test("a lower resolution is stated", () => {
  const why = (bits: number): string => recommendation([paillier, outlook("lattice", 2, 1, bits)], job).why;
  expect(why(12)).toContain("It rounds gradients to 12 bits, not 24.");
  expect(why(24)).not.toContain("rounds");
});

test.each([
  [
    "minimums below the root",
    outlook("lattice", 2, 1),
    { ...job, counting: countingDefences({ ...noDefences, min_people_share: 0.01, outcome_bits: 2 }) },
    /with lattice min_people_share would hold at the root only/,
  ],
  ["few people", outlook("lattice", 2, 11e6), { ...job, rows: 500 }, /with few instances/],
  ["a slow kernel", outlook("lattice", 200, 1), job, /would not be faster \(native kernel\)/],
])("Paillier with %s", (_name, lattice, shape, why) => {
  const found = recommendation([paillier, lattice], shape);
  expect(found.scheme).toBe("paillier");
  expect(found.why).toMatch(why);
});

test("the only scheme that can train the job", () => {
  const none = { ...outlook("lattice", 1, 1), estimate: null, refusal: "too many candidates" };
  expect(recommendation([paillier, none], job)).toEqual({
    scheme: "paillier",
    why: "the other cannot train this job: too many candidates",
  });
});

test("the schemes reveal different things", () => {
  const { sent, hidden } = revealedTexts;
  expect(sent.some((line) => hidden.includes(line))).toBe(false);
});
