/**
 * Consents given and refused, between companies with certificates of their own; the shares are those of a real
 * training.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { scratchDirectory } from "../../../test/support/command.ts";
import { type Company, foundCompany, ProcessWorld } from "../../../test/world/processes.ts";
import { expectError } from "../../../test/support/expect-error.ts";
import { trainFederated, type TestOutcome } from "../../../test/support/in-memory-job.ts";
import { randomTable } from "../../../test/support/tables.ts";
import { generateKey, selectKernel } from "../../crypto/paillier/index.ts";
import { readConsent, writeConsent } from "../../store/consent-file.ts";
import { type ActiveShare, type PassiveShare, writeActiveShare, writePassiveShare } from "../../store/share-files.ts";
import { gbtreeOf } from "../../store/xgboost/booster.ts";
import { xgboostModel } from "../../store/xgboost/export.ts";
import { xgboostText } from "../../store/xgboost/text.ts";
import { createSelfSigned } from "../../transport/certificates.ts";
import { type ActiveConfig, type PassiveConfigInput } from "../config/config.ts";
import { exportModel } from "./export-model.ts";
import { prepareConsent } from "./give-consent.ts";
import { readSigner } from "./signer.ts";

const root = scratchDirectory();
const nothing = { header: ["id"], rows: [] };
const passiveNames = ["passive-1", "passive-2"];
let outcome: TestOutcome;
let bank: Company;
let rival: Company;
let shops: readonly Company[];
let world: ProcessWorld;
let config: ActiveConfig;
let consents: string[];
let files = 0;
const fresh = (): string => join(root, `out-${files++}.json`);

beforeAll(async () => {
  const key = await generateKey({ bits: 256, insecure: true });
  outcome = await trainFederated({
    table: randomTable("export", { rows: 90, features: [2, 3, 2], missingFraction: 0.1 }),
    kernel: selectKernel(),
    key,
  });
  world = await ProcessWorld.found(root, { active: nothing, "passive-1": nothing, "passive-2": nothing });
  ({ bank, shops } = world);
  rival = await foundCompany(root, "rival", nothing, "active");
  config = await configOf(bank, shops);
  await store(bank, "test", outcome.activeShare);
  await Promise.all(shops.map((shop, i) => store(shop, "test", outcome.passiveShares[i])));
  consents = await Promise.all(shops.map((shop) => consentOf(shop)));
});

function configOf(
  active: Company,
  companies: readonly Company[],
  names: readonly string[] = passiveNames,
): Promise<ActiveConfig> {
  return world.activeConfig("test", {}, { active, passives: companies.map((one, i) => ({ ...one, name: names[i] })) });
}

async function store({ folder }: Company, job: string, share: ActiveShare | PassiveShare): Promise<void> {
  mkdirSync(join(folder, "jobs", job), { recursive: true });
  const path = join(folder, "jobs", job, "share.json");
  await ("splits" in share ? writePassiveShare(path, share) : writeActiveShare(path, share));
}

const request = { job: "test", recipient: "active", purpose: "scoring", tandemVersion: "0.0.0" };

async function consentOf(
  shop: Company,
  changes: Partial<Parameters<typeof prepareConsent>[1]> = {},
  actives?: readonly Company[],
  configChanges?: Partial<PassiveConfigInput>,
): Promise<string> {
  const prepared = await prepareConsent(
    await world.passiveConfig(shop, configChanges, { actives: actives ?? [bank] }),
    {
      ...request,
      out: fresh(),
      now: new Date(),
      ...changes,
    },
  );
  await prepared.write();
  return prepared.path;
}

test("with every party's consent the file is the whole model, whatever the order of the files", async () => {
  const out = fresh();
  const exported = await exportModel(config, { job: "test", consents: consents.toReversed(), out });
  expect(exported).toMatchObject({
    model: outcome.activeShare.model,
    treeCount: 3,
    consents: [{ party: "passive-1", statement: { purpose: "scoring" } }, { party: "passive-2" }],
  });
  const used = [0, 1, 2].map((owner) =>
    [0, 1, 2]
      .map((feature) => `p${owner}f${feature}`)
      .filter((name) => JSON.stringify(outcome.model).includes(`"${name}"`)),
  );
  const names = (JSON.parse(readFileSync(out, "utf8")) as ReturnType<typeof xgboostModel>).learner.feature_names;
  expect(names).toEqual(used.flat());
  expect(exported.featureCount).toBe(names.length);
  // The same trees as an export that knows every party's columns.
  const whole = xgboostModel(outcome.model, [
    ["p0f0", "p0f1"],
    ["p1f0", "p1f1", "p1f2"],
    ["p2f0", "p2f1"],
  ]);
  const treesOf = (model: ReturnType<typeof xgboostModel>) =>
    gbtreeOf(model.learner.gradient_booster).model.trees.map((tree) => ({
      ...tree,
      tree_param: {},
      split_indices: tree.split_indices.map((index, node) =>
        tree.left_children[node] < 0 ? "" : model.learner.feature_names[index],
      ),
    }));
  expect(treesOf(JSON.parse(readFileSync(out, "utf8")) as ReturnType<typeof xgboostModel>)).toEqual(
    treesOf(JSON.parse(xgboostText(whole)) as ReturnType<typeof xgboostModel>),
  );
});

test("the names in the active party's config count, not those that the parties have for themselves", async () => {
  const renamed = { ...outcome.activeShare, passiveNames: ["the shop", "the other"] };
  await store(bank, "renamed", renamed);
  const exported = await exportModel(await configOf(bank, shops, renamed.passiveNames), {
    job: "renamed",
    consents,
    out: fresh(),
  });
  expect(exported.consents.map(({ party }) => party)).toEqual(renamed.passiveNames);
});

describe("refused, and nothing is written", () => {
  const expectRefused = async (
    files: readonly string[],
    code: "CONSENT" | "CERTIFICATE" | "FILE_FORMAT" | "USAGE" | "FILE_UNREADABLE",
    message: RegExp,
    changes: { job?: string; config?: ActiveConfig } = {},
  ): Promise<void> => {
    const out = fresh();
    const error = await expectError(
      () => exportModel(changes.config ?? config, { job: changes.job ?? "test", consents: files, out }),
      code,
      message,
    );
    expect(() => readFileSync(out)).toThrow(/ENOENT/);
    const secrets = outcome.passiveShares
      .flatMap(({ splits }) => splits.map(({ threshold }) => String(threshold)))
      .filter((text) => text.length > 4);
    expect(secrets.length).toBeGreaterThan(2);
    for (const secret of secrets) expect(error.message).not.toContain(secret);
  };

  test("without a consent", () =>
    expectRefused(
      [],
      "CONSENT",
      /^the consent of passive-1, passive-2 is missing\. .*tandem model consent --model test --to active$/,
    ));
  test("one is missing", () => expectRefused([consents[0]], "CONSENT", /^the consent of passive-2 is missing\./));
  test("one twice", () => expectRefused([consents[0], consents[0]], "CONSENT", /second consent of passive-1/));
  test("changed on the way", async () => {
    const path = fresh();
    writeFileSync(path, readFileSync(consents[0], "utf8").replace('"defaultLeft":true', '"defaultLeft":false'));
    await expectRefused([path, consents[1]], "CONSENT", /changed after it was signed/);
  });
  test("signed by an unknown peer under the party's name", async () => {
    const impostor = await foundCompany(join(root, "elsewhere"), "passive-1", nothing);
    await store(impostor, "test", outcome.passiveShares[0]);
    await expectRefused(
      [await consentOf(impostor), consents[1]],
      "CONSENT",
      new RegExp(`a certificate that the config does not pin. Its fingerprint is ${impostor.fingerprint}`),
    );
  });
  test("another party's share, signed by the pinned party", async () => {
    await store(shops[0], "mixed", { ...outcome.passiveShares[1], name: "passive-1" });
    await expectRefused(
      [await consentOf(shops[0], { job: "mixed" }), consents[1]],
      "FILE_FORMAT",
      /do not belong together/,
    );
  });
  test("for another model", async () => {
    await store(shops[0], "other", { ...outcome.passiveShares[0], job: "other", model: "6".repeat(64) });
    await expectRefused(
      [await consentOf(shops[0], { job: "other" }), consents[1]],
      "CONSENT",
      /passive-1 consents for model 666666666666 \(job other\), not for .* \(job test\)/,
    );
  });
  test("for another recipient: the file was passed on", async () => {
    await store(rival, "test", outcome.activeShare);
    await expectRefused(
      consents,
      "CONSENT",
      new RegExp(
        `passive-1 consents for active with the certificate ${bank.fingerprint}. This party's is ${rival.fingerprint}`,
      ),
      { config: await configOf(rival, shops) },
    );
  });
  test("of a pinned party that took no part", async () => {
    await store(bank, "pair", { ...outcome.activeShare, passiveNames: ["passive-1", "passive-3"] });
    await expectRefused(consents, "CONSENT", /passive-2 took no part in test/, { job: "pair" });
  });
  test("signed when the certificate was not valid", async () => {
    await expectError(
      () => consentOf(shops[0], { now: new Date("2001-01-01") }),
      "CERTIFICATE",
      /certificate\.pem: signed on 2001.*valid only from/,
    );
    await expectError(() => consentOf(shops[0], { now: new Date("2199-01-01") }), "CERTIFICATE", /expired/);
    // A signer that does not check this before signing.
    const path = fresh();
    const { consent } = await readConsent(consents[0]);
    const signer = await readSigner((await world.passiveConfig(shops[0])).tls, new Date());
    await writeConsent(
      path,
      { ...consent, statement: { ...consent.statement, date: "2199-01-01T00:00:00.000Z" } },
      signer,
    );
    await expectRefused([path, consents[1]], "CERTIFICATE", /signed on 2199.*expired/);
  });
  test("a model without a split", async () => {
    const leaf = { kind: "leaf", weight: 0.5, cover: 1, count: 1 } as const;
    await store(bank, "bare", { ...outcome.activeShare, trees: [[leaf]] });
    const bare = await Promise.all(
      shops.map(async (shop, i) => {
        await store(shop, "bare", { ...outcome.passiveShares[i], splits: [] });
        return consentOf(shop, { job: "bare" });
      }),
    );
    await expectRefused(bare, "USAGE", /no split/, { job: "bare" });
  });
  test("a job that does not exist, or a path in its place", async () => {
    await expectRefused(consents, "FILE_UNREADABLE", /nowhere\/share\.json/, { job: "nowhere" });
    await expectRefused(consents, "USAGE", /--model takes the name of a job/, { job: "../passive-1/jobs/test" });
  });
  test("a file that is there already stays", async () => {
    const out = fresh();
    writeFileSync(out, "precious");
    await expectError(() => exportModel(config, { job: "test", consents, out }), "FILE_UNWRITABLE", /exists already/);
    expect(readFileSync(out, "utf8")).toBe("precious");
  });
});

describe("a consent that cannot be given", () => {
  test.each([
    ["to an unknown party", { recipient: "unknown" }, "USAGE", /no active party 'unknown', only active, rival$/],
    [
      "to an active party that it was not trained with",
      { recipient: "rival" },
      "USAGE",
      /test was trained with active\. No other party/,
    ],
    ["without a purpose", { purpose: " \n" }, "USAGE", /--purpose must say/],
    ["with an endless purpose", { purpose: "x".repeat(501) }, "USAGE", /1 to 500 characters/],
    ["to a job that does not exist", { job: "nowhere" }, "FILE_UNREADABLE", /nowhere/],
  ] as const)("%s", async (_name, changes, code, message) => {
    const out = fresh();
    await expectError(() => consentOf(shops[0], { ...changes, out }, [bank, rival]), code, message);
    expect(() => readFileSync(out)).toThrow(/ENOENT/);
  });

  test("with a key that is another certificate's, or none", async () => {
    writeFileSync(join(shops[0].folder, "other.pem"), (await createSelfSigned("other", 1)).key, { mode: 0o600 });
    writeFileSync(join(shops[0].folder, "none.pem"), "no key", { mode: 0o600 });
    const keyed = (key: string) => ({ tls: { certificate: "certificate.pem", key } });
    await expectError(
      () => consentOf(shops[0], {}, [bank], keyed("other.pem")),
      "CERTIFICATE",
      /other\.pem is not the key of .*certificate\.pem/,
    );
    await expectError(
      () => consentOf(shops[0], {}, [bank], keyed("none.pem")),
      "KEY_FORMAT",
      /none\.pem is not a private key/,
    );
  });

  test("the second time in the same file; in the job's folder by default", async () => {
    const path = await consentOf(shops[1], { out: undefined });
    expect(path).toBe(join(shops[1].folder, "jobs", "test", "consent.json"));
    await expectError(() => consentOf(shops[1], { out: undefined }), "FILE_UNWRITABLE", /consent\.json exists already/);
    rmSync(path);
  });
});
