/**
 * How long a pinned active party waits for its first answer while an unknown peer floods the passive party's port from
 * the same address: a connection, TLS, and the offer of an alignment, as `tandem align` begins.
 *
 *   node scripts/measure-floods.mjs [--kinds silent,reconnect] [--connections 0,32,1000] [--calls 5]
 *
 * Passive party and flood are processes of their own. Prints a line per kind of flood and number of connections.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { importSources } from "./import-sources.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const allKinds = ["silent", "half a hello", "trickle", "wrong certificate", "reconnect"];
const { values } = parseArgs({
  options: {
    kinds: { type: "string", default: allKinds.join(",") },
    connections: { type: "string", default: "0,32,1000" },
    calls: { type: "string", default: "5" },
  },
});
const [{ initParty }, { connectTls }, { readIdentity }, { hashDomain }] = await importSources(
  "src/party/init.ts",
  "src/transport/tls-connect.ts",
  "src/party/identity.ts",
  "src/psi/hash-to-curve.ts",
);
const folder = await mkdtemp(join(tmpdir(), "tandem-door-"));
const place = { host: "127.0.0.1", port: 0 };
const bank = await initParty({ role: "active", name: "bank", ...place, directory: join(folder, "bank") });
const shop = await initParty({ role: "passive", name: "shop", ...place, directory: join(folder, "shop") });
const unknown = await initParty({ role: "active", name: "unknown", ...place, directory: join(folder, "unknown") });
await writeFile(join(folder, "shop", "data.csv"), "id,a\n1,2\n2,3\n");
await writeFile(
  join(folder, "shop", "passive.yaml"),
  JSON.stringify({
    name: "shop",
    listen: place,
    tls: { certificate: "certificate.pem", key: "key.pem" },
    active: [{ name: "bank", fingerprint: bank.fingerprint }],
    data: { path: "data.csv", id: "id", features: "all" },
    output: { directory: "jobs" },
  }),
);
const children = [];
try {
  const party = started(join(root, "bin", "tandem.js"), "party", "-c", join(folder, "shop", "passive.yaml"));
  const port = Number(/port"?:? ?(\d+)/.exec(await said(party, /port"?:? ?\d+/))?.[1]);
  const identity = await readIdentity({
    certificate: join(folder, "bank", "certificate.pem"),
    key: join(folder, "bank", "key.pem"),
  });
  for (const kind of values.kinds.split(","))
    for (const count of values.connections.split(",").map(Number)) {
      const keys = ["certificate.pem", "key.pem"].map((name) => join(dirname(unknown.configPath), name));
      const flood =
        count === 0
          ? null
          : started(join(root, "test/support/flooder.mjs"), String(port), kind, String(count), ...keys);
      if (flood !== null) await said(flood, /flooding/);
      const delays = [];
      let failures = 0;
      for (let call = 0; call < Number(values.calls); call++) {
        const began = performance.now();
        for (let answered = false; !answered;) {
          const peer = connectTls("shop", identity, shop.fingerprint, { host: "127.0.0.1", port });
          try {
            await peer.alignment("door").begin({ hashDomain, normalisations: [], activeIdCount: 2 }, {});
            answered = true;
          } catch (error) {
            failures++;
            if (performance.now() - began > 30_000) throw error;
          } finally {
            peer.close();
          }
        }
        delays.push(performance.now() - began);
      }
      delays.sort((a, b) => a - b);
      const shown = (ms) => `${Math.round(ms)} ms`;
      process.stdout.write(
        `${kind}, ${count} connections: median ${shown(delays[delays.length >> 1])}, ` +
          `worst ${shown(delays.at(-1))}, connections that were lost ${failures}\n`,
      );
      flood?.kill();
      if (flood !== null) await once(flood, "close");
    }
} finally {
  for (const child of children) child.kill();
  await rm(folder, { recursive: true, force: true });
}
process.exit();

function started(...args) {
  const child = spawn(process.execPath, args, { stdio: "pipe" });
  for (const output of [child.stdout, child.stderr]) output.setEncoding("utf8");
  children.push(child);
  return child;
}

/** What a process has printed once it matches; the rest of its words is read and thrown away. */
function said(child, pattern) {
  let text = "";
  return new Promise((resolve, reject) => {
    for (const output of [child.stdout, child.stderr])
      output.on("data", (chunk) => {
        text = (text + chunk).slice(-2000);
        if (pattern.test(text)) resolve(text);
      });
    child.once("close", () => reject(new Error(`it ended: ${text}`)));
  });
}
