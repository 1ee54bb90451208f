/** Certificates that are renewed while parties run: no job is lost, and what is no longer pinned is refused. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { TandemError } from "../src/base/error.ts";
import { type ActiveWorld, realWorld } from "../src/party/active/world.ts";
import { readRenewal, renewCertificate, rollBack, switchCertificate } from "../src/party/certificates/renewal.ts";
import { readIdentity } from "../src/party/identity.ts";
import { createSelfSigned } from "../src/transport/certificates.ts";
import { certificateFingerprint } from "../src/transport/pinned-certificate.ts";
import { connectScoring } from "../src/transport/tls-connect.ts";
import type { TlsIdentity } from "../src/transport/tls-settings.ts";
import { checkOpenings } from "../src/verify/check.ts";
import { deviations } from "../src/verify/findings.ts";
import { writeOpening } from "../src/verify/opening.ts";
import type { ScoringPeer } from "../src/wire/scoring-peer.ts";
import { companyAuthority } from "./support/company-authority.ts";
import { expectError } from "./support/expect-error.ts";
import { testWorlds } from "./support/test-worlds.ts";
import { tandemHere } from "./world/command-here.ts";
import { makePeople, shuffled } from "./world/people.ts";
import type { Company, ProcessWorld } from "./world/processes.ts";
import type { RunningParty } from "./world/running-party.ts";

const worlds = testWorlds();
let founded: ProcessWorld;
let expected: readonly string[];

beforeAll(async () => {
  const people = makePeople(150, "renewal");
  founded = await worlds.found(
    {
      bank: { people, columns: [0, 1] },
      shop: { people: shuffled(people, "shop"), columns: [2, 3] },
    },
    { active: { training: { num_round: 4 } } },
  );
  await founded.start(founded.shop);
  await founded.train("j");
  expected = founded.outputs("j");
});

const filesOf = ({ name, folder }: Company) => ({
  name,
  tls: { certificate: join(folder, "certificate.pem"), key: join(folder, "key.pem") },
});

const fingerprintOf = async (company: Company, stage: "current" | "next"): Promise<string> =>
  (await readRenewal(filesOf(company)))[stage]?.certificate?.fingerprint ?? "";

/** As its owner does with an editor. */
function pin(company: Company, file: string, fingerprints: readonly string[]): void {
  const path = join(company.folder, file);
  const config = JSON.parse(readFileSync(path, "utf8")) as Record<string, { fingerprint: unknown }[]>;
  for (const partner of config["active"] ?? config["passives"]) partner.fingerprint = fingerprints;
  writeFileSync(path, JSON.stringify(config));
}

async function renewed(company: Company): Promise<readonly [string, string]> {
  await renewCertificate(filesOf(company), 90, false);
  return [await fingerprintOf(company, "current"), await fingerprintOf(company, "next")];
}

/** Copies of the companies, with a running shop that looks at its files all the time. */
async function running(): Promise<{ world: ProcessWorld; party: RunningParty }> {
  const world = worlds.copy(founded);
  const output = { directory: "renewed" };
  const party = await world.start(world.shop, { output }, { credentialsMs: 20 });
  return { world, party };
}

const scoringPeer = (port: number, identity: TlsIdentity, pins: readonly string[]) =>
  connectScoring("shop", async () => ({ identity, pins }), { host: "127.0.0.1", port });

/** A party that admits the connection answers that its policy forbids it. */
const ask = (peer: ScoringPeer) => peer.tags("none", { timeoutMs: 60_000 });

/** When a tree is finished its step is done, and the connection is lost. */
function tearing(steps: readonly (() => Promise<unknown>)[]): ActiveWorld {
  const left = [...steps.entries()];
  return {
    ...realWorld,
    sleep: (ms) => realWorld.sleep(ms / 50),
    connect: async (config, watchOf) =>
      (await realWorld.connect(config, watchOf)).map((peer) => ({
        ...peer,
        finishTree: async (finished, options) => {
          const answer = await peer.finishTree(finished, options);
          if (left[0]?.[0] !== finished.tree) return answer;
          await left.shift()?.[1]();
          throw new TandemError("PARTY_LOST", "the network is gone");
        },
      })),
  };
}

test("both parties renew in the middle of a job: the same model, and the job can be verified", async () => {
  const { world, party } = await running();
  const { bank, shop } = world;
  const pins: Record<string, readonly [string, string]> = {};
  const attempts = [
    // Each pins the other's next certificate beside the current one, and the shop switches.
    async () => {
      pins["bank"] = await renewed(bank);
      pins["shop"] = await renewed(shop);
      pin(bank, "active-j.json", pins["shop"]);
      pin(shop, "passive.json", pins["bank"]);
      await party.seen("repinned");
      await switchCertificate(filesOf(shop));
      await party.seen("certificate", 3); // its own, the bank's, and the new one
    },
    () => switchCertificate(filesOf(bank)),
    // The old pins are removed.
    async () => {
      pin(bank, "active-j.json", [pins["shop"][1]]);
      pin(shop, "passive.json", [pins["bank"][1]]);
      await party.seen("repinned", 2);
    },
  ];
  const events = await world.train("j", { output: { directory: "renewed" } }, { surroundings: tearing(attempts) });
  expect(events.filter(({ type }) => type === "waiting")).toHaveLength(3);
  expect(world.outputs("j", "renewed")).toEqual(expected);

  const openings = await world.openings("j");
  const verdict = await checkOpenings(openings, { pins: new Map(Object.entries(pins)), trees: null });
  expect(deviations(verdict)).toEqual([]);
  expect(verdict.notChecked).toEqual([]);
  const onlyNew = new Map(Object.entries(pins).map(([name, [, last]]) => [name, last]));
  const wrong = await checkOpenings(openings, { pins: onlyNew, trees: null });
  expect(deviations(wrong).map(({ what }) => what)).toContain(
    "its opening has another certificate than the pinned one",
  );

  const paths = openings.map(({ name }) => join(world.root, `${name}.opening`));
  for (const [i, opening] of openings.entries()) await writeOpening(paths[i], opening);
  const given = Object.entries(pins).flatMap(([name, both]) => both.flatMap((each) => ["--pin", `${name}=${each}`]));
  expect((await tandemHere("verify-job", "check", ...paths, ...given)).exitCode).toBe(0);
});

test("a key whose pin was removed is refused, also on an open connection; one that was never pinned too", async () => {
  const { world, party } = await running();
  const { bank, shop } = world;
  const config = await world.activeConfig("stale");
  const [{ fingerprint }] = config.passives;
  const stale = await readIdentity(filesOf(bank).tls);
  const [old, next] = await renewed(bank);
  pin(shop, "passive.json", [old, next]);
  await party.seen("repinned");
  const open = scoringPeer(party.port, stale, fingerprint);
  await expectError(() => ask(open), "POLICY", /explanations/);
  await switchCertificate(filesOf(bank));
  pin(shop, "passive.json", [next]);
  await party.seen("repinned", 2);
  // It is closed: the first call may still be lost with it, the next one dials again.
  const outcome = () => ask(open).catch((error: unknown) => String(error));
  await expect.poll(outcome, { timeout: 60_000 }).toMatch(/does not know this party's certificate/);
  expect((await party.seen("turned-away")).why).toContain(old);
  const third = await createSelfSigned("bank", 10);
  const other = scoringPeer(party.port, third, fingerprint);
  await expectError(() => ask(other), "CERTIFICATE", /does not know this party's certificate/);
  for (const peer of [open, other]) peer.close();
});

test("a bank that switches before its partner has pinned the next certificate is refused and may go back", async () => {
  const { world, party } = await running();
  const files = filesOf(world.bank);
  const steps = [
    async () => {
      await renewed(world.bank);
      await switchCertificate(files);
    },
  ];
  const output = { directory: "renewed" };
  const train = (surroundings: ActiveWorld) => world.train("j", { output }, { surroundings });
  await expectError(
    () => train(tearing(steps)),
    "CERTIFICATE",
    /shop answers, and does not know this party's certificate/,
  );
  await party.seen("turned-away");
  expect(await rollBack(files)).toBe("switched back");
  await train(realWorld);
  expect(world.outputs("j", "renewed")).toEqual(expected);
});

test("a change that cannot be used is reported, and what was in use stays", async () => {
  const { world, party } = await running();
  const { shop } = world;
  const path = join(shop.folder, "passive.json");
  const config = readFileSync(path, "utf8");
  const wrong = [
    { text: "{", words: /not YAML/ },
    { text: config.replace(/"fingerprint":"[0-9a-f]{64}"/, '"fingerprint":"abc"'), words: /64 hex digits/ },
    {
      text: config.replace(
        /"fingerprint":("[0-9a-f]{64}")/,
        `"fingerprint":[$1,"${"1".repeat(64)}","${"2".repeat(64)}"]`,
      ),
      words: /list of two/,
    },
    {
      text: config.replace(/"fingerprint":"[0-9a-f]{64}"/, `"fingerprint":"${shop.fingerprint}"`),
      words: /own fingerprint/,
    },
  ];
  for (const [i, { text, words }] of wrong.entries()) {
    writeFileSync(path, text);
    expect((await party.seen("notice", i + 1)).words).toMatch(words);
  }
  writeFileSync(path, config);
  writeFileSync(join(shop.folder, "certificate.pem"), (await createSelfSigned("shop", 10)).certificate);
  expect((await party.seen("notice", wrong.length + 1)).words).toMatch(/is not the key of/);
  await world.train("j", { output: { directory: "renewed" } });
  expect(world.outputs("j", "renewed")).toEqual(expected);
  expect(party.events.some(({ type }) => type === "repinned")).toBe(false);
});

test("the commands of a renewal, as the companies use them", async () => {
  const { world, party } = await running();
  const { bank, shop } = world;
  const active = world.writeActive("used");
  const cert = (step: string, config: string, ...more: string[]) => tandemHere("cert", step, "-c", config, ...more);
  expect((await cert("show", active)).stdout).toMatch(
    new RegExp(`^bank\n  current   ${bank.fingerprint}  .* 729 days left\nshop\n  pin 1     ${shop.fingerprint}\n$`),
  );
  const made = await cert("renew", active, "--days", "90");
  const next = /next fingerprint: {2}([0-9a-f]{64})/.exec(made.stdout)?.[1] ?? "";
  expect(next).toBe(await fingerprintOf(bank, "next"));
  const early = await cert("switch", active);
  expect(early.exitCode).toBe(2);
  expect(early.stderr).toContain("shop does not accept the next certificate yet");
  pin(shop, "passive.json", [bank.fingerprint, next]);
  await party.seen("repinned");
  expect((await cert("switch", active)).stdout).toContain("The next certificate is in use");
  const shown = JSON.parse((await cert("show", active, "--json")).stdout) as Record<string, { fingerprint: string }>;
  expect(shown).toMatchObject({ current: { fingerprint: next }, previous: { fingerprint: bank.fingerprint } });
  expect((await cert("renew", active)).stderr).toContain("tandem cert finish");
  expect((await cert("finish", active)).stdout).toContain("shop should remove its pin");
  expect((await cert("rollback", active)).stdout).toContain("nothing to do");
  expect((await cert("renew", join(shop.folder, "passive.json"), "--days", "0")).stderr).toContain("--days");
  expect((await cert("show", join(shop.folder, "missing.yaml"))).stderr).toContain("no such file");
});

test("a certificate that the authority has revoked is refused, although it is pinned", async () => {
  const authority = await companyAuthority("company");
  const [server, client, revoked] = await Promise.all(["shop", "bank", "bank"].map((name) => authority.issue(name)));
  const world = worlds.copy(founded);
  const { shop } = world;
  const write = (file: string, text: string): void => writeFileSync(join(shop.folder, file), text, { mode: 0o600 });
  write("certificate.pem", server.certificate);
  write("key.pem", server.key);
  write("authority.pem", authority.certificate);
  write("revoked.pem", await authority.revoke([]));
  const party = await world.start(
    shop,
    {
      tls: { certificate: "certificate.pem", key: "key.pem", authority: "authority.pem", revoked: "revoked.pem" },
      active: [
        { name: "bank", fingerprint: [client, revoked].map(({ certificate }) => certificateFingerprint(certificate)) },
      ],
    },
    { credentialsMs: 20 },
  );
  const pins = [certificateFingerprint(server.certificate)];
  const outcome = async (identity: TlsIdentity): Promise<string> => {
    const peer = scoringPeer(party.port, identity, pins);
    const error = await ask(peer).catch((thrown: unknown) => thrown);
    peer.close();
    return error instanceof TandemError ? `${error.code}: ${error.message}` : String(error);
  };
  expect(await outcome(client)).toMatch("POLICY");
  expect(await outcome(revoked)).toMatch("POLICY");
  write("revoked.pem", await authority.revoke([revoked.certificate]));
  await expect.poll(() => outcome(revoked), { timeout: 60_000 }).toMatch(/it may refuse this party's certificate/);
  expect(await outcome(client)).toMatch("POLICY");
});
