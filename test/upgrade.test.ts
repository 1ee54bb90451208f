/** Two companies on their way from an earlier release to this one (docs/upgrade.md). */
import { cpSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { lockFolder } from "../src/base/files/process-lock.ts";
import { allIterations } from "../src/gbdt/tree/iterations.ts";
import { readIdentity } from "../src/party/identity.ts";
import { runPredict } from "../src/scoring/run-predict.ts";
import { listenTls } from "../src/transport/tls-listen.ts";
import { thisRelease } from "../src/wire/releases.ts";
import { scratchDirectory } from "./support/command.ts";
import { expectError } from "./support/expect-error.ts";
import { OldRelease, releases } from "./support/old-release.ts";
import { testWorlds } from "./support/test-worlds.ts";
import { makePeople } from "./world/people.ts";

const worlds = testWorlds();

function filesUnder(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true }) as string[];
  const files = names.filter((name) => statSync(join(folder, name)).isFile());
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(folder, name), "base64")]));
}

describe.each(releases)("from %s", (name) => {
  const old = new OldRelease(name, scratchDirectory());

  // Certificates of fixtures are valid for a day.
  beforeAll(() => {
    vi.useFakeTimers({ toFake: ["Date"], now: old.captured, shouldAdvanceTime: true });
  });
  afterAll(() => {
    vi.useRealTimers();
  });

  test("a copy of a party serves the same scores beside the old one, whose files stay as they are", async () => {
    const root = scratchDirectory();
    cpSync(old.root, root, { recursive: true });
    const copy = OldRelease.at(name, root);
    const release = await lockFolder(old.path("shop", "jobs")); // the old party runs
    onTestFinished(release);
    const before = filesUnder(old.root);
    const port = await copy.startShop("passive.yaml");
    const output = join(scratchDirectory(), "scores.csv");
    await runPredict(await copy.bankConfig("credit", port), {
      model: "credit",
      input: copy.path("bank", "score.csv"),
      output,
      unknown: "refuse",
      wanted: { kind: "prediction", iterations: allIterations },
      onProgress: () => {},
    });
    expect(readFileSync(output, "utf8")).toBe(old.read("scores", "credit.csv"));
    expect(filesUnder(old.root)).toEqual(before);
  });
});

test("a party that answers no probes has an earlier release: the bank learns it before it begins", async () => {
  const people = makePeople(60, "upgrade");
  const world = await worlds.found({ bank: { people, columns: [0] }, shop: { people, columns: [1] } });
  const { bank, shop } = world;
  const files = { certificate: join(shop.folder, "certificate.pem"), key: join(shop.folder, "key.pem") };
  const server = await listenTls(
    { routes: () => {} },
    await readIdentity(files),
    [{ name: "bank", fingerprints: [bank.fingerprint] }],
    { host: "127.0.0.1", port: 0 },
  );
  onTestFinished(() => server.close());
  await expectError(
    () => world.train("early", {}, { ports: { shop: server.port } }),
    "HANDSHAKE_MISMATCH",
    new RegExp(`shop runs Tandem 0\\.6 or an earlier release.*shop must install Tandem ${thisRelease()}\\.`),
  );
});
