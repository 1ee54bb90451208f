/**
 * What parties store and hand over: shares, checkpoints, budgets, consents. Mostly their contents are changed and the
 * checksum recomputed, as an attacker can. Consents are signed again.
 */
import { createHash, createPrivateKey, sign, X509Certificate } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { TandemError } from "../../../src/base/error.ts";
import type { SeededRandom } from "../../../src/base/random.ts";
import { diskStorage } from "../../../src/base/files/storage.ts";
import { generateKey } from "../../../src/crypto/paillier/index.ts";
import { noProgress } from "../../../src/protocol/passive/progress.ts";
import { paillier, PaillierSecret } from "../../../src/scheme/paillier/paillier.ts";
import { checkpointPath, readActiveCheckpoint, writeActiveCheckpoint } from "../../../src/store/active-checkpoint.ts";
import { nothingSpent } from "../../../src/privacy/spending.ts";
import { readBudget, writeBudget } from "../../../src/store/budget-file.ts";
import { readConsent, writeConsent } from "../../../src/store/consent-file.ts";
import { mergeShares } from "../../../src/store/merge-shares.ts";
import {
  readAlignment,
  readPassiveJob,
  readProgress,
  writeAlignment,
  writePassiveJob,
  writeProgress,
} from "../../../src/store/passive-checkpoint.ts";
import {
  type ActiveShare,
  type PassiveShare,
  readShare,
  writeActiveShare,
  writePassiveShare,
} from "../../../src/store/share-files.ts";
import { createSelfSigned } from "../../../src/transport/certificates.ts";
import type { FuzzFormat, FuzzTarget } from "./fuzz-format.ts";
import { mutated } from "./mutate.ts";
import { mutatedJson } from "./mutate-json.ts";

const leaf = { kind: "leaf" as const, weight: 0.5, cover: 1, count: 1 };
const rule = { owner: 0 as const, feature: 0, featureName: "income", threshold: 1.5, defaultLeft: true };
const split = (left: number, of: typeof rule | { owner: number }) =>
  ({ kind: "split" as const, left, right: left + 1, gain: 1, cover: 2, count: 2, rule: of }) as const;
const trees = [[split(1, { owner: 1 }), split(3, rule), leaf, leaf, leaf], [leaf]];
const origin = { job: "spring", model: "5".repeat(64) };
const activeShare = {
  ...origin,
  name: "bank",
  objective: "binary:logistic" as const,
  baseMargin: 0,
  passiveNames: ["telecom"],
  trees,
};
const place = { tree: 0, node: 0, feature: 0, featureName: "usage" };
const ownSplits = [
  { ...place, threshold: 1.5, defaultLeft: true },
  { ...place, tree: 1, categories: ["a", "b"] as [string, ...string[]], defaultLeft: false },
];
const passiveShare = { ...origin, name: "telecom", active: "bank", splits: ownSplits.slice(0, 1) };

const envelope = /^(\{"format":"[^"]*","sha256":")[0-9a-f]{64}(","[a-z]+":)(.*)\}\n$/s;

/** One in three is changed as bytes, the others in their contents. */
function resealed(corpus: readonly Uint8Array[], random: SeededRandom): Uint8Array {
  if (random.below(3) === 0) return mutated(corpus, random);
  const text = Buffer.from(corpus[random.below(corpus.length)]).toString();
  const [, head, middle, contents] = envelope.exec(text) ?? [];
  const changed = mutatedJson(contents, random);
  return Buffer.from(`${head}${createHash("sha256").update(changed).digest("hex")}${middle}${changed}}\n`);
}

async function sealedTarget(paths: readonly string[], folder: string, read: () => Promise<void>): Promise<FuzzTarget> {
  const originals = await Promise.all(paths.map((path) => readFile(path)));
  return {
    named: folder,
    mutant(random) {
      const at = random.below(paths.length);
      return { path: paths[at], bytes: resealed([originals[at]], random) };
    },
    async read({ path, bytes }: { readonly path: string; readonly bytes: Uint8Array }) {
      await Promise.all(paths.map((other, i) => writeFile(other, originals[i])));
      await writeFile(path, bytes);
      await read();
      return undefined;
    },
  };
}

/** Shares that do not belong together are refused by their parties' names: no single file is at fault. */
function merged(active: ActiveShare, passives: readonly PassiveShare[]): void {
  try {
    mergeShares(active, passives);
  } catch (error) {
    if (!(error instanceof TandemError)) throw error;
  }
}

const share: FuzzFormat = {
  name: "share",
  async prepare(folder) {
    const [activePath, passivePath] = [join(folder, "active.json"), join(folder, "passive.json")];
    await writeActiveShare(activePath, activeShare);
    await writePassiveShare(passivePath, passiveShare);
    return sealedTarget([activePath, passivePath], folder, async () => {
      const found = [await readShare(activePath), await readShare(passivePath)];
      const active = found.flatMap((each) => (each.kind === "active" ? [each.share] : []));
      const passives = found.flatMap((each) => (each.kind === "passive" ? [each.share] : []));
      if (active.length === 1) merged(active[0], passives);
    });
  },
};

const checkpoint: FuzzFormat = {
  name: "checkpoint-active",
  async prepare(folder) {
    const key = await generateKey({ bits: 128, insecure: true });
    await writeActiveCheckpoint(
      folder,
      {
        identity: { job: "j", eta: 0.3 },
        jobId: Uint8Array.of(1, 2, 255),
        secret: new PaillierSecret(key),
        aligned: Uint32Array.of(5, 0, 7),
        seed: new Uint8Array(32),
        samplingSecret: "s",
        start: { model: "5".repeat(64), objective: "binary:logistic", baseMargin: 0, trees: trees.slice(1) },
        progress: { trees, margins: Float64Array.of(0, -0, 1 / 3), best: { round: 0, value: Number.NaN } },
      },
      diskStorage,
    );
    return sealedTarget([checkpointPath(folder)], folder, async () => {
      await readActiveCheckpoint(folder, paillier, diskStorage);
    });
  },
};

const passiveFiles: FuzzFormat = {
  name: "checkpoint-passive",
  async prepare(folder) {
    await writeAlignment(folder, { active: "bank", rows: Uint32Array.of(3, 1), data: "ab" }, diskStorage);
    await writePassiveJob(
      folder,
      {
        active: "bank",
        jobId: "0102",
        agreed: { eta: 0.3, objective: "binary:logistic", masked: false },
        instances: 2,
        idsDigest: "ab",
        aligned: true,
        training: "Aw==",
        validation: "",
        data: "ab",
        start: [...ownSplits],
        secret: "AAAA",
        sampling: "s",
      },
      diskStorage,
    );
    const answered = { trees: 1, splits: [...ownSplits], members: { "0/1": "03" } };
    await writeProgress(folder, "0102", { ...noProgress, ...answered }, diskStorage);
    const names = ["alignment.json", "job.json", "progress.json"];
    return sealedTarget(
      names.map((name) => join(folder, name)),
      folder,
      async () => {
        await readAlignment(folder, diskStorage);
        await readPassiveJob(folder, diskStorage);
        await readProgress(folder, "0102", diskStorage);
      },
    );
  },
};

const budget: FuzzFormat = {
  name: "budget",
  async prepare(folder) {
    const spent = { ...nothingSpent, sumsPerPerson: 0.5, openedPerPerson: 0.1, outcomesPerPerson: 3, scoredPeople: 7 };
    await writeBudget(folder, { active: "bank", spent, open: { "0102": { begun: 2, ended: 1 } } }, diskStorage);
    const digest = createHash("sha256").update("bank").digest("hex").slice(0, 16);
    return sealedTarget([join(folder, ".partners", `${digest}.json`)], folder, async () => {
      await readBudget(folder, "bank", diskStorage);
    });
  },
};

const consent: FuzzFormat = {
  name: "consent",
  async prepare(folder) {
    const identity = await createSelfSigned("telecom", 10);
    const key = createPrivateKey(identity.key);
    const certificate = new X509Certificate(identity.certificate);
    const path = join(folder, "consent.json");
    const statement = {
      ...origin,
      party: "telecom",
      recipient: { name: "bank", fingerprint: "a".repeat(64) },
      purpose: "scoring",
      date: "2024-05-06T07:08:09.000Z",
      tandem: "0.1.0",
    };
    await writeConsent(path, { statement, share: passiveShare }, { certificate, key });
    const original = await readFile(path);
    const [, head, middle, body] =
      /^(\{"format":"[^"]*","certificate":"[^"]*","signature":")[^"]*(","consent":)(.*)\}\n$/s.exec(
        original.toString(),
      ) ?? [];
    return {
      named: path,
      mutant(random) {
        if (random.below(3) === 0) return mutated([original], random);
        const changed = mutatedJson(body, random);
        const signature = sign("sha256", Buffer.from(`tandem-consent/1\n${changed}`), key).toString("base64");
        return Buffer.from(`${head}${signature}${middle}${changed}}\n`);
      },
      async read(bytes: Uint8Array) {
        await writeFile(path, bytes);
        await readConsent(path);
        return undefined;
      },
    };
  },
};

export const stored = [share, checkpoint, passiveFiles, budget, consent];
