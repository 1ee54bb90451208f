import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { scratchDirectory } from "../../../test/support/command.ts";
import { expectError } from "../../../test/support/expect-error.ts";
import { readActiveConfig, readPassiveConfig } from "./config.ts";
import { openWorkerEngine, readCrewKey } from "../crew/crew-access.ts";
import { readWorkerConfig } from "./crew-config.ts";

const folder = scratchDirectory();
const path = join(folder, "config.yaml");

const passive = (crew: string, name = "shop"): string => {
  writeFileSync(
    path,
    `name: "${name}"
listen: { host: localhost, port: 0 }
tls: { certificate: c.pem, key: k.pem }
active: [{ name: bank, fingerprint: "${"ab".repeat(32)}" }]
data: { path: data.csv, id: id, features: all }
output: { directory: jobs }
crew:
${crew}
`,
  );
  return path;
};

const least = `  servers: [tls://nats-0:4222, "tls://[::1]:4222"]
  tls: { certificate: crew/party.pem, key: crew/party.key, authority: crew/ca.pem }
  secret: crew/crew.key`;

describe("crew: of a party", () => {
  test("defaults are complete, and paths are relative to the config", async () => {
    const { crew } = await readPassiveConfig(passive(least));
    const at = (name: string): string => join(folder, "crew", name);
    expect(crew).toEqual({
      servers: ["tls://nats-0:4222", "tls://[::1]:4222"],
      name: "shop",
      tls: { certificate: at("party.pem"), key: at("party.key"), authority: at("ca.pem"), insecure_key_file: false },
      secret: at("crew.key"),
      folder: at("blocks"),
      store: "file",
      replicas: 1,
      block_rows: "auto",
      lease_seconds: 10,
      workers_min: 1,
    });
    expect(crew).not.toHaveProperty("listen");
  });

  test("what is written counts", async () => {
    const { crew } = await readPassiveConfig(
      passive(
        `${least}\n  name: shop-2\n  folder: /mnt/blocks\n  store: memory\n  block_rows: 131072\n` +
          "  listen: { host: 0.0.0.0, port: 4322 }",
      ),
    );
    expect(crew).toMatchObject({ name: "shop-2", folder: "/mnt/blocks", store: "memory", block_rows: 131072 });
    expect(crew?.listen).toEqual({ host: "0.0.0.0", port: 4322 });
  });

  test.each([
    ["  servers: [nats://a:4222]", /line 8: field 'crew.servers\[1\]': must be tls:\/\/host:port/],
    [`${least}\n  store: disk`, /line 11: field 'crew.store': must be one of file, memory/],
    [
      `${least}\n  block_rows: 1000`,
      /line 11: field 'crew.block_rows': must be auto, or a power of two from 256 to 1048576/,
    ],
    [
      `${least}\n  listen: { host: a, port: 99999 }`,
      /line 11: field 'crew.listen.port': must be a whole number from 0 to 65535/,
    ],
    [`${least}\n  lease_seconds: 1`, /line 11: field 'crew.lease_seconds': must be a whole number from 2/],
    [`${least}\n  name: A.B`, /line 11: field 'crew.name': must be up to 40 small letters/],
    [`${least}\n  worker_min: 1`, /line 11: unknown field 'crew.worker_min'; did you mean 'workers_min'/],
    ["  servers: []", /line 8: field 'crew.servers': must name at least one server/],
    [least.replace(/\n *secret.*/, ""), /line 7: field 'crew.secret' is missing/],
  ])("a mistake is named by its line: %j", async (crew, message) => {
    await expectError(() => readPassiveConfig(passive(crew)), "FILE_FORMAT", message);
  });

  test("a party whose name cannot be a crew's must name it", async () => {
    await expectError(() => readPassiveConfig(passive(least, "Shop & Sons")), "FILE_FORMAT", /'crew.name' is missing/);
  });

  const active = (scheme: string, more = ""): string => {
    const lines = [
      "name: bank",
      `passives: [{ name: shop, host: h, port: 1, fingerprint: "${"00".repeat(32)}" }]`,
      "tls: { certificate: c, key: k }",
      "data: { path: a.csv, id: id, label: y, features: all }",
      "output: { directory: o }",
      `scheme: ${scheme}`,
      "crew:",
    ];
    writeFileSync(path, `${lines.join("\n")}\n${least}\n${more}`);
    return path;
  };

  test("an active party may have one too", async () => {
    const { crew } = await readActiveConfig(active("paillier"), () => "job");
    expect(crew).toMatchObject({
      name: "bank",
      store: "file",
      workers_min: 1,
      secret: join(folder, "crew", "crew.key"),
    });
  });

  test("an active party's workers fetch nothing: it does not listen for them", async () => {
    await expectError(
      () => readActiveConfig(active("paillier", "  listen: { host: a, port: 1 }\n"), () => "job"),
      "FILE_FORMAT",
      /line 11: field 'crew.listen': an active party has no blocks to send; leave it out/,
    );
  });

  test("with the lattice scheme there is nothing for it to do, and its line says so", async () => {
    await expectError(
      () => readActiveConfig(active("lattice"), () => "job"),
      "FILE_FORMAT",
      /line 7: field 'crew': with 'scheme: lattice' an active party has nothing to do that workers could share/,
    );
  });
});

describe("worker.yaml", () => {
  const worker = (text: string): string => {
    writeFileSync(path, text);
    return path;
  };
  const whole = `name: shop\nservers: [tls://a:4222]\ntls: { certificate: w.pem, key: w.key, authority: ca.pem }\n`;

  test("is read, with its defaults", async () => {
    const config = await readWorkerConfig(worker(`${whole}secret: crew.key\n`));
    expect(config).toMatchObject({ name: "shop", folder: join(folder, "blocks"), log: { level: "info" } });
    expect(config.tls.key).toBe(join(folder, "w.key"));
  });

  test("mistakes are named by their line", async () => {
    await expectError(() => readWorkerConfig(worker(whole)), "FILE_FORMAT", /field 'secret' is missing/);
    await expectError(
      () => readWorkerConfig(worker(`${whole}secret: crew.key\nthread: 2\n`)),
      "FILE_FORMAT",
      /line 5: unknown field 'thread'; did you mean 'threads'/,
    );
  });
});

describe("a crew's key", () => {
  const key = join(folder, "crew.key");
  const write = (text: string, mode = 0o600): void => {
    writeFileSync(key, text, { mode });
    chmodSync(key, mode);
  };

  test("is 64 hex digits, readable by its owner only", async () => {
    write(`${"0a".repeat(32)}\n`);
    expect([...(await readCrewKey(key, false))]).toEqual(new Array(32).fill(10));
    write(`${"0a".repeat(31)}\n`);
    await expectError(() => readCrewKey(key, false), "KEY_FORMAT", /crew.key is not a crew's key: 64 hex digits/);
    await expectError(() => readCrewKey(join(folder, "none"), false), "FILE_UNREADABLE", /tandem init crew/);
  });

  test.skipIf(process.platform === "win32")("with wrong rights stops a worker before it connects", async () => {
    write("0a".repeat(32), 0o640);
    const tls = { certificate: "c", key: "k", authority: "a", insecure_key_file: false };
    const access = { name: "shop", servers: ["tls://127.0.0.1:1"], tls, secret: key, folder };
    const opening = (): Promise<unknown> => openWorkerEngine(access, "w1", { patienceMs: 0 });
    await expectError(opening, "FILE_UNREADABLE", /chmod 600/);
  });
});
