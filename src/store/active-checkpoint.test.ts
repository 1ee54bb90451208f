/** The active party's checkpoint is read back bit for bit, and differences of a resumed job are reported. */
import { paillier, PaillierSecret } from "../scheme/paillier/paillier.ts";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import { diskStorage } from "../base/files/storage.ts";
import { generateKey, type PrivateKey } from "../crypto/paillier/index.ts";
import {
  type ActiveCheckpoint,
  checkpointPath,
  dataDigestField,
  identityDifference,
  readActiveCheckpoint,
  writeActiveCheckpoint,
} from "./active-checkpoint.ts";

let folder: string;
let key: PrivateKey;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tandem-checkpoint-"));
  key = await generateKey({ bits: 256, insecure: true });
});
afterAll(() => rm(folder, { recursive: true }));

const margins = Float64Array.of(0, -0, 1 / 3, Number.MIN_VALUE, -Number.MAX_VALUE, 2 ** -1074 * 3, Math.PI);
const leaf = { kind: "leaf" as const, weight: 0.1, cover: 3, count: 7 };
const trees = [
  [{ kind: "split" as const, left: 1, right: 2, gain: 0.3, cover: 6, count: 14, rule: { owner: 1 } }, leaf, leaf],
  [leaf],
];

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

function checkpoint(change: Partial<ActiveCheckpoint> = {}): ActiveCheckpoint {
  return {
    identity: { job: "j", eta: 0.3 },
    jobId: Uint8Array.of(1, 2, 255),
    secret: new PaillierSecret(key),
    aligned: Uint32Array.of(5, 0, 0xffff_ffff),
    seed: new Uint8Array(32),
    samplingSecret: "s",
    resolutionBits: 22,
    start: null,
    progress: { trees, margins, best: { round: 0, value: Number.NaN, metrics: Float64Array.of(0.5, Number.NaN) } },
    ...change,
  };
}

describe("a checkpoint", () => {
  test("is read back bit for bit, readable by its owner only", async () => {
    await writeActiveCheckpoint(folder, checkpoint(), diskStorage);
    const back = await readActiveCheckpoint(folder, paillier, diskStorage);
    expect(back).toMatchObject({
      identity: { job: "j", eta: 0.3 },
      jobId: Uint8Array.of(1, 2, 255),
      aligned: Uint32Array.of(5, 0, 0xffff_ffff),
    });
    expect(back?.progress?.trees).toEqual(trees);
    expect(back).toMatchObject({
      seed: new Uint8Array(32),
      samplingSecret: "s",
      progress: { best: { round: 0, value: Number.NaN, metrics: Float64Array.of(0.5, Number.NaN) } },
    });
    expect(new BigUint64Array(back?.progress?.margins.buffer as ArrayBuffer)).toEqual(
      new BigUint64Array(margins.buffer),
    );
    expect(back?.secret).toBeInstanceOf(PaillierSecret);
    expect(back?.secret.serialise()).toBe(new PaillierSecret(key).serialise());
    expect((await stat(checkpointPath(folder))).mode & 0o777).toBe(0o600);
  });

  test("of many rows is written in pieces, and read back", async () => {
    const aligned = Uint32Array.from({ length: 400_001 }, (_, row) => 7 * row);
    const long = Float64Array.from(aligned, (row) => Math.sin(row));
    const pieces: number[] = [];
    const storage: typeof diskStorage = {
      ...diskStorage,
      write: (path, contents) => {
        const all = typeof contents === "string" || contents instanceof Uint8Array ? [contents] : [...contents];
        pieces.push(...all.map(({ length }) => length));
        return diskStorage.write(path, all);
      },
    };
    const progress = { trees, margins: long, boostingRoundMargins: long.slice(3), best: null };
    await writeActiveCheckpoint(folder, checkpoint({ aligned, progress }), storage);
    expect(Math.max(...pieces)).toBeLessThanOrEqual(1 << 20);
    const back = await readActiveCheckpoint(folder, paillier, diskStorage);
    // toEqual compares typed arrays number by number, which takes half a minute here.
    const isSame = (a: ArrayBufferView | null = null, b: ArrayBufferView | null = null): boolean =>
      a !== null && b !== null && Buffer.compare(bytesOf(a), bytesOf(b)) === 0;
    expect(isSame(back?.aligned, aligned)).toBe(true);
    expect(back?.progress?.trees).toEqual(trees);
    expect(isSame(back?.progress?.margins, long)).toBe(true);
    expect(isSame(back?.progress?.boostingRoundMargins, long.slice(3))).toBe(true);
  });

  test("before the first tree, without alignment; and no checkpoint", async () => {
    await writeActiveCheckpoint(folder, checkpoint({ aligned: null, progress: null }), diskStorage);
    expect(await readActiveCheckpoint(folder, paillier, diskStorage)).toMatchObject({ aligned: null, progress: null });
    expect(await readActiveCheckpoint(join(folder, "elsewhere"), paillier, diskStorage)).toBeNull();
  });

  test("of a warm start, before its first round and after it", async () => {
    const start = {
      model: "ab".repeat(32),
      objective: "binary:logistic",
      baseMargin: 0.25,
      trees: trees.slice(0, 1),
    } as const;
    await writeActiveCheckpoint(folder, checkpoint({ start, progress: null }), diskStorage);
    expect(await readActiveCheckpoint(folder, paillier, diskStorage)).toMatchObject({ start, progress: null });
    await writeActiveCheckpoint(folder, checkpoint({ start }), diskStorage);
    const back = await readActiveCheckpoint(folder, paillier, diskStorage);
    expect(back?.start).toEqual(start);
    expect(back?.progress?.trees).toEqual(trees);
  });

  test("with an invalid key: the error names the field, never a value", async () => {
    await writeActiveCheckpoint(folder, checkpoint(), diskStorage);
    const text = await readFile(checkpointPath(folder), "utf8");
    const prime = key.secretPrimes().p.prime.toString(16);
    expect(text).toContain(prime);
    const { createHash } = await import("node:crypto");
    const contents = text
      .slice(text.indexOf('"checkpoint":') + '"checkpoint":'.length, -2)
      .replace(prime, `${prime.slice(0, -1)}${prime.endsWith("3") ? "1" : "3"}`);
    const digest = createHash("sha256").update(contents).digest("hex");
    await writeFile(
      checkpointPath(folder),
      `{"format":"tandem-active-checkpoint/4","sha256":"${digest}","checkpoint":${contents}}\n`,
    );
    const error = await expectError(
      () => readActiveCheckpoint(folder, paillier, diskStorage),
      "CHECKPOINT",
      /checkpoint\.json: key field '/,
    );
    expect(error.message).not.toContain(prime.slice(0, 16));
  });

  test("changed fields are named, but not the digest of the data", () => {
    expect(identityDifference({ a: 1, b: "x" }, { a: 1, b: "x" })).toBeNull();
    expect(identityDifference({ a: 1 }, { a: 2 })).toBe("a was 1 when the job began and is 2 now");
    expect(identityDifference({}, { a: true })).toBe("a was undefined when the job began and is true now");
    expect(identityDifference({ [dataDigestField]: "ab" }, { [dataDigestField]: "cd" })).toBe(
      "the data has changed since the job began",
    );
  });
});
