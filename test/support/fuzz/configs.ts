/** The YAML configs of both parties. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readActiveConfig, readPassiveConfig } from "../../../src/party/config/config.ts";
import type { FuzzFormat } from "./fuzz-format.ts";
import { mutated } from "./mutate.ts";

const print = "ab".repeat(32);
const tls = "tls:\n  certificate: certificate.pem\n  key: key.pem\n";
const passive = [
  `name: retailer
listen: { host: 0.0.0.0, port: 7443 }
${tls}active:
  - name: bank
    fingerprint: ${print}
data:
  command: [psql, --csv, -c, "select *"]
  id: id
  features: all
  missing: ["?", '-999']
policy:
  max_trees: 20
  privacy:
    masked_scoring: true
output:
  directory: jobs
`,
  `# anchors
name: &n retailer
listen:
  host: localhost
  port: 7443
${tls}active: [{ name: bank, fingerprint: ${print} }]
data: { path: people.csv, id: id, features: [a, "b", *n] }
policy: { max_trees: 5 }
output: { directory: jobs }
`,
];
const active = [
  `name: bank
passives:
  - name: retailer
    host: retailer.example
    port: 7443
    fingerprint: ${print}
${tls}data:
  path: loans.parquet
  id: id
  features: [income, debt]
  label: outcome
  test_fraction: 0.25
training:
  num_round: 10
  eta: 0.3
  objective: binary:logistic
codec:
  resolution_bits: 20
insecure_key_bits: 512
output:
  directory: jobs
  transcript: true
`,
  `{"name": "bank", "passives": [{"name": "r", "host": "h", "port": 1, "fingerprint": "${print}"}],
 "tls": {"certificate": "c", "key": "k"}, "data": {"path": "x.csv", "id": "id", "features": "all", "label": "y"},
 "training": {"max_depth": 3, "subsample": 0.5}, "output": {"directory": "jobs"}}
`,
];

const format = (
  name: string,
  texts: readonly string[],
  readConfig: (path: string) => Promise<unknown>,
): FuzzFormat => ({
  name,
  async prepare(folder) {
    const path = join(folder, "config.yaml");
    const corpus = texts.map((text) => Buffer.from(text));
    for (const text of corpus) {
      await writeFile(path, text);
      await readConfig(path); // a corpus that is refused tests little
    }
    return {
      named: path,
      mutant: (random) => mutated(corpus, random),
      async read(bytes: Uint8Array) {
        await writeFile(path, bytes);
        await readConfig(path);
        return undefined;
      },
    };
  },
});

export const configs = [
  format("config-passive", passive, readPassiveConfig),
  format("config-active", active, (path) => readActiveConfig(path, () => "made-up")),
];
