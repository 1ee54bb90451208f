import { describe, expect, test } from "vitest";
import { agreedParameters } from "../../protocol/job-parameters.ts";
import { schemeNamed } from "../../scheme/registry.ts";
import { resolveJob } from "../resolve-job.ts";
import { alignmentBytes, jobBytes } from "./job-memory.ts";

const rows = 1_000_000;

/** Bytes per row, without what every job takes. */
function perRow(scheme: string, features: number, training: Record<string, unknown> = {}): number {
  const schemeParameters = schemeNamed(scheme).parameters({ keyBits: 2048, insecureKey: false });
  const agreed = { ...agreedParameters({ ...resolveJob({ training }), scheme, schemeParameters }) };
  return (jobBytes({ rows, features }, agreed) - jobBytes({ rows: 0, features }, agreed)) / rows;
}

describe("the estimate covers the measured memory per row of docs/performance.md", () => {
  test("Paillier: a ciphertext of 512 bytes, bins of all columns, digests", () => {
    expect(perRow("paillier", 10)).toBeGreaterThanOrEqual(512 + 16 + 2 * 10);
    expect(perRow("paillier", 10)).toBeLessThan(700);
    expect(perRow("paillier", 110) - perRow("paillier", 10)).toBe(200);
  });

  test("the curve scheme: decoded points; lattices: no ciphertexts", () => {
    expect(perRow("curve", 10)).toBeGreaterThanOrEqual(3 * 128);
    expect(perRow("curve", 10)).toBeLessThan(500);
    // Measured: (1413 - 929) MB for 10^7 rows.
    expect(perRow("lattice", 10)).toBeGreaterThanOrEqual(48);
    expect(perRow("lattice", 10)).toBeLessThan(150);
  });

  test("several classes take more ciphertexts", () => {
    const classes = { objective: "multi:softprob", num_class: 40, multi_strategy: "multi_output_tree" };
    expect(perRow("paillier", 10, classes)).toBeGreaterThan(2 * 512);
  });

  test("an alignment alone", () => {
    expect((alignmentBytes({ rows }) - alignmentBytes({ rows: 0 })) / rows).toBeGreaterThanOrEqual(20);
  });
});
