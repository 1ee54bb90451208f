/** What a passive party stores about a job, and which attempt may still write to it. */
import { describe, expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { MemoryDisk } from "../../../test/support/memory-disk.ts";
import { TandemError } from "../../base/error.ts";
import type { Storage } from "../../base/files/storage.ts";
import { noProgress } from "../../protocol/passive/answered-splits.ts";
import { type JobTerms, PassiveCheckpoints, type PassiveCheckpointsOptions, refuseAlignment } from "./checkpoints.ts";

const terms: JobTerms = {
  active: "bank",
  jobId: "aa",
  agreed: { job: "j", numRound: 3 },
  instances: 2,
  idsDigest: "01",
  aligned: false,
  training: "",
  validation: "",
  data: "02",
  sampling: "s",
};
const split = { tree: 0, node: 0, feature: 1, featureName: "f", threshold: 0.5, defaultLeft: true };

class Disk {
  readonly files = new MemoryDisk();
  /** Writes wait for this. */
  gate: Promise<void> = Promise.resolve();

  get options(): PassiveCheckpointsOptions {
    const storage: Storage = {
      ...this.files.storage(),
      write: async (path, contents) => {
        await this.gate;
        this.files.put(path, contents);
      },
    };
    return { party: "shop", job: "j", folder: "jobs/j", storage, ownFiles: (work) => work() };
  }

  async begun(change: Partial<JobTerms> = {}): Promise<PassiveCheckpoints> {
    const checkpoints = await PassiveCheckpoints.open(this.options, { ...terms, ...change });
    await checkpoints.begin();
    return checkpoints;
  }
}

describe("checkpoints that are retired", () => {
  test("lets a write end that is under way, and refuses every later one", async () => {
    const disk = new Disk();
    const checkpoints = await disk.begun();
    let open = (): void => {};
    disk.gate = new Promise((resolve) => (open = resolve));
    const underWay = checkpoints.store({ ...noProgress, trees: 1, splits: [split], members: {} });
    await new Promise((resolve) => setImmediate(resolve));
    let isRetired = false;
    const retired = checkpoints.retire().then(() => (isRetired = true));
    const late = checkpoints.store(noProgress).then(
      () => null,
      (error: unknown) => error,
    );
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(isRetired).toBe(false);
    open();
    await Promise.all([underWay, retired]);
    expect(await late).toBeInstanceOf(TandemError);
    await expectError(
      () => checkpoints.finish({ share: shareOf([]), reference }),
      "PARTY_LOST",
      /attempt at the job is over/,
    );
    expect((await PassiveCheckpoints.open(disk.options, terms)).progress).toMatchObject({ trees: 1, splits: [split] });
  });
});

const shareOf = (splits: (typeof split)[]) => ({
  name: "shop",
  job: "j",
  model: "ab".repeat(32),
  active: "bank",
  splits,
});

const reference = { model: "ab".repeat(32), scores: [], features: [] };

describe("a job that is opened again", () => {
  test("has its secret and its progress, until it has succeeded: then the secret is deleted", async () => {
    const disk = new Disk();
    const checkpoints = await disk.begun();
    await checkpoints.store({ ...noProgress, trees: 3, splits: [split], members: { "2/0": "ab" } });
    const again = await PassiveCheckpoints.open(disk.options, { ...terms, sampling: "of a renewed certificate" });
    expect(again.permutationSecret).toEqual(checkpoints.permutationSecret);
    expect(again.samplingSecret).toBe(terms.sampling);
    expect(again.progress).toEqual({ ...noProgress, trees: 3, splits: [split], members: { "2/0": "ab" } });
    const secret = Buffer.from(checkpoints.permutationSecret).toString("base64");
    expect(disk.files.allText).toContain(secret);
    await again.finish({ share: shareOf([split]), reference });
    expect(disk.files.text("jobs/j/share.json")).toContain('"threshold":0.5');
    expect(disk.files.allText).not.toContain(secret);
    const share = disk.files.text("jobs/j/share.json");
    const finished = await PassiveCheckpoints.open(disk.options, terms);
    expect(finished.isFinished).toBe(true);
    await finished.finish({ share: shareOf([]), reference });
    expect(disk.files.text("jobs/j/share.json")).toBe(share);
    await expectError(
      () => PassiveCheckpoints.open(disk.options, { ...terms, jobId: "bb" }),
      "HANDSHAKE_MISMATCH",
      /shop has finished a job named j already/,
    );
    await expectError(() => refuseAlignment(disk.options, "bank"), "HANDSHAKE_MISMATCH", /finished/);
  });

  test.each([
    ["job id", { jobId: "bb" }, /the active party has started over/],
    ["ids", { idsDigest: "ff" }, /the ids have changed/],
    ["training rows", { training: "AQ==" }, /the ids have changed/],
    ["validation rows", { validation: "AQ==" }, /the ids have changed/],
    ["parameters", { agreed: { job: "j", numRound: 4 } }, /numRound has changed/],
    ["defence, which was off", { agreed: { ...terms.agreed, roundedGains: 1 } }, /roundedGains has changed/],
    ["data", { data: "ff" }, /its own data has changed/],
  ])("with another %s: anew without a tree, refused with one", async (name, change, says) => {
    const disk = new Disk();
    const first = await disk.begun();
    const anew = await disk.begun(change);
    expect(anew.permutationSecret).not.toEqual(first.permutationSecret);
    expect(anew.progress).toEqual(noProgress);
    await anew.store({ ...noProgress, trees: 1, splits: [], members: {} });
    if (name === "job id")
      expect((await PassiveCheckpoints.open(disk.options, { ...terms, ...change })).progress.trees).toBe(1);
    await expectError(() => PassiveCheckpoints.open(disk.options, terms), "CHECKPOINT", /since then/);
    const forth = new Disk();
    await (await forth.begun()).store({ ...noProgress, trees: 1, splits: [], members: {} });
    await expectError(() => PassiveCheckpoints.open(forth.options, { ...terms, ...change }), "CHECKPOINT", says);
    await expectError(
      () => refuseAlignment(forth.options, "bank"),
      "CHECKPOINT",
      /shop has stored 1 trees of a job named j/,
    );
  });

  test("after the first gradients a job does not start over: its noise and evidence stay", async () => {
    const disk = new Disk();
    const first = await disk.begun();
    await first.store({ ...noProgress, round: { tree: 0, sample: "ab" } });
    for (const change of [{ jobId: "bb" }, { agreed: { job: "j", numRound: 4 } }, { idsDigest: "ff" }])
      await expectError(
        () => PassiveCheckpoints.open(disk.options, { ...terms, ...change }),
        "CHECKPOINT",
        /another name/,
      );
    await expectError(() => refuseAlignment(disk.options, "bank"), "CHECKPOINT", /has begun; continue it/);
    const again = await PassiveCheckpoints.open(disk.options, terms);
    expect(again.permutationSecret).toEqual(first.permutationSecret);
  });

  test("data that changes after the first answer of the first tree is noticed as well", async () => {
    const disk = new Disk();
    await (await disk.begun()).store({ ...noProgress, trees: 0, splits: [split], members: { "0/0": "ab" } });
    await expectError(
      () => PassiveCheckpoints.open(disk.options, { ...terms, data: "ff" }),
      "CHECKPOINT",
      /its own data has changed/,
    );
  });

  test("by another active party: refused, whatever there is of it", async () => {
    const disk = new Disk();
    await disk.begun();
    await expectError(
      () => PassiveCheckpoints.open(disk.options, { ...terms, active: "rival" }),
      "HANDSHAKE_MISMATCH",
      /another active party/,
    );
    await expectError(() => refuseAlignment(disk.options, "rival"), "HANDSHAKE_MISMATCH", /another active party/);
    await refuseAlignment(disk.options, "bank");
  });

  test("progress of an earlier start of the job is ignored", async () => {
    const disk = new Disk();
    await (await disk.begun()).store({ ...noProgress, trees: 0, splits: [split], members: {} });
    const stale = disk.files.text("jobs/j/progress.json") ?? "";
    disk.files.remove("jobs/j/progress.json");
    await disk.begun({ jobId: "bb" });
    disk.files.put("jobs/j/progress.json", stale);
    expect((await PassiveCheckpoints.open(disk.options, { ...terms, jobId: "bb" })).progress).toEqual(noProgress);
  });
});

test("splits of a start model are stored with the job: the next attempt does not need the share", async () => {
  const disk = new Disk();
  const gone = (): Promise<never> => Promise.reject(new TandemError("MODEL_UNKNOWN", "the share is gone"));
  await expectError(() => PassiveCheckpoints.open(disk.options, terms, gone), "MODEL_UNKNOWN");
  await (await PassiveCheckpoints.open(disk.options, terms, () => Promise.resolve([split]))).begin();
  const again = await PassiveCheckpoints.open(disk.options, terms, gone);
  expect([again.start, again.progress]).toEqual([[split], noProgress]);
  // They were not grown by this job: it may start over.
  await refuseAlignment(disk.options, terms.active);
  expect(
    (await PassiveCheckpoints.open(disk.options, { ...terms, jobId: "ff" }, () => Promise.resolve([]))).start,
  ).toEqual([]);
});

test("a job that starts over under the same id is another run; one that resumes is the same", async () => {
  const disk = new Disk();
  const first = await disk.begun();
  expect((await PassiveCheckpoints.open(disk.options, terms)).beginning).toBe(first.beginning);
  const anew = await PassiveCheckpoints.open(disk.options, { ...terms, agreed: { job: "j", numRound: 4 } });
  expect(anew.beginning).not.toBe(first.beginning);
  expect(anew.permutationSecret).not.toEqual(first.permutationSecret);
});
