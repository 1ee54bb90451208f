/** Configs of a passive and of an active party as text, for tests that change one line of them. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readActiveConfig, readPassiveConfig } from "../../src/party/config/config.ts";
import { scratchDirectory } from "./command.ts";

export const print = "ab".repeat(32);

export const passive = `name: retailer
listen:
  host: 0.0.0.0
  port: 7443
tls:
  certificate: certificate.pem
  key: /etc/tandem/key.pem
active:
  - name: bank
    fingerprint: ${print}
data:
  path: data/people.csv
  id: id
  features: all
policy:
  max_trees: 20
output:
  directory: jobs
`;

export const active = `name: bank
passives:
  - name: retailer
    host: retailer.example
    port: 7443
    fingerprint: ${print}
tls:
  certificate: certificate.pem
  key: key.pem
data:
  path: loans.parquet
  id: id
  features: [income, debt]
  label: outcome
training:
  num_round: 10
output:
  directory: jobs
`;

/** Writes configs into files of their own. */
export class ConfigFiles {
  readonly folder = scratchDirectory();
  #count = 0;

  write(text: string): string {
    const path = join(this.folder, `config-${this.#count++}.yaml`);
    writeFileSync(path, text);
    return path;
  }
}

export const read = { passive: readPassiveConfig, active: (path: string) => readActiveConfig(path, () => "made-up") };
