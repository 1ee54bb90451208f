import { describe, expect, it } from "vitest";
import { type Doctor, measuredCells } from "../../../test/support/measured-cells.ts";
import { checkClaims } from "./claims.ts";
import { MeasuredCells } from "./measured-cells.ts";
import { scales } from "./scale.ts";

const scale = scales.full;

function held(doctor?: Doctor): Record<string, boolean | null> {
  return Object.fromEntries(checkClaims(scale, measuredCells(scale, doctor)).map((claim) => [claim.name, claim.held]));
}

describe("claims", () => {
  it("hold where the numbers say so, and show the number", () => {
    expect(Object.values(held())).toEqual(Array.from({ length: 9 }, () => true));
    const seen = Object.fromEntries(checkClaims(scale, measuredCells(scale)).map((claim) => [claim.name, claim.seen]));
    expect(seen["time per tree"]).toBe("55.00% in one pair");
    expect(seen["AUC on test"]).toBe("0.00010 at most, over 14 pairs");
    expect(seen["gradient ciphertexts"]).toBe("exactly one half in 18 of 18 pairs");
  });

  const batchedOnly =
    (change: Doctor): Doctor =>
    (run, spec) =>
      spec.codec === "batched" ? change(run, spec) : { run };

  it.each<[string, Doctor]>([
    [
      "gradient ciphertexts",
      batchedOnly((run) => ({
        run: { ...run, counts: { ...run.counts, gradientCiphertexts: run.counts.gradientCiphertexts + 1 } },
      })),
    ],
    [
      "gradient bytes",
      batchedOnly((run, { keyBits }) => ({
        run: { ...run, bytes: { ...run.bytes, activeToPassive: keyBits === 128 ? 1.05e6 : run.bytes.activeToPassive } },
      })),
    ],
    [
      "candidate ciphertexts",
      batchedOnly((run) => ({ run: { ...run, counts: { ...run.counts, candidateCiphertexts: 580 } } })),
    ],
    [
      "AUC on test",
      batchedOnly((run, { trees }) => ({
        run: trees === 90 ? { ...run, metrics: { ...run.metrics, test: { auc: 0.7779, ks: 0.432 } } } : run,
      })),
    ],
    [
      "KS on test",
      batchedOnly((run, { trainRows }) => ({
        run: trainRows === 60_000 ? { ...run, metrics: { ...run.metrics, test: { auc: 0.7802, ks: 0.4215 } } } : run,
      })),
    ],
    [
      "no overflow",
      (run, { keyBits }) => (keyBits === 3072 ? { overflow: "a decrypted sum overflows its slot" } : { run }),
    ],
    [
      "the paper's total time",
      batchedOnly((run, { keyBits }) => ({ run: { ...run, totalSeconds: keyBits === 512 ? 76 : 60 } })),
    ],
  ])("%s fails alone where its number is wrong", (name, doctor) => {
    expect(held(doctor)).toEqual({ ...held(), [name]: false });
  });

  it("time per tree: 60% is the bar at 1024 bits, and faster than the paper is no failure of ours", () => {
    const at1024 = (secondsPerTree: number) =>
      held((run, spec) => ({
        run:
          spec.codec === "batched" && spec.keyBits === 1024 && spec.without !== "" ? { ...run, secondsPerTree } : run,
      }));
    expect([at1024(1.2)["time per tree"], at1024(1.21)["time per tree"]]).toEqual([true, false]);
    expect([at1024(0.9)["time per tree"], at1024(0.9)["the paper's time per tree"]]).toEqual([true, false]);
  });

  it("are not run where nothing was", () => {
    expect(checkClaims(scale, new MeasuredCells()).map((claim) => [claim.held, claim.seen])).toEqual(
      Array.from({ length: 9 }, () => [null, "not run"]),
    );
  });
});
