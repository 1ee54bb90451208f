/** What a company starts with: a commented config, a key and a self-signed certificate, in a folder of its own. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { requireNewFile } from "../base/files/new-file.ts";
import { TandemError } from "../base/error.ts";
import { createSelfSigned } from "../transport/certificates.ts";
import { certificateFingerprint } from "../transport/pinned-certificate.ts";

export interface InitOptions {
  readonly role: "active" | "passive";
  readonly name: string;
  /** Where the passive party listens; for the active party, where it finds it. */
  readonly host: string;
  readonly port: number;
  readonly directory: string;
}

export interface InitResult {
  readonly configPath: string;
  readonly certificatePath: string;
  readonly fingerprint: string;
}

export interface IdentityFiles {
  readonly keyPath: string;
  readonly certificatePath: string;
  readonly fingerprint: string;
}

/** Two years. */
export const validDays = 730;

/** @throws TandemError FILE_UNWRITABLE; nothing that exists is overwritten */
export async function initParty(options: InitOptions): Promise<InitResult> {
  const { role, name, directory } = options;
  const configPath = join(directory, `${role}.yaml`);
  const text = role === "active" ? activeText(options) : passiveText(options);
  const { certificatePath, fingerprint } = await initIdentity(name, directory, { [configPath]: text });
  return { configPath, certificatePath, fingerprint };
}

/**
 * A key and a self-signed certificate.
 * @param others files that are written beside them, by their paths
 * @throws TandemError FILE_UNWRITABLE; nothing that exists is overwritten
 */
export async function initIdentity(
  name: string,
  directory: string,
  others: Readonly<Record<string, string>> = {},
): Promise<IdentityFiles> {
  const [keyPath, certificatePath] = [join(directory, "key.pem"), join(directory, "certificate.pem")];
  for (const path of [...Object.keys(others), keyPath, certificatePath])
    await requireNewFile(path, "Choose another folder");
  const identity = await createSelfSigned(name, validDays);
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await writeFile(keyPath, identity.key, { mode: 0o600, flag: "wx" });
    await writeFile(certificatePath, identity.certificate, { mode: 0o644, flag: "wx" });
    for (const [path, text] of Object.entries(others)) await writeFile(path, text, { mode: 0o644, flag: "wx" });
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? ` (${String(cause.code)})` : "";
    throw new TandemError("FILE_UNWRITABLE", `${directory} cannot be written${code}`, { cause });
  }
  return { keyPath, certificatePath, fingerprint: certificateFingerprint(identity.certificate) };
}

const dataComments = `  path: data.csv               # .csv, .csv.gz or .parquet, or a folder; relative to this file
  # command: [psql, --csv, -c, "select * from people"]     # instead of path: a program that prints CSV
  # postgres: { url_file: database.url, query: "select * from people order by id" }  # or a server: docs/sources.md
  id: id                       # the column by which parties recognise a person
  features: all                # or a list of columns: [income, age]; or all_but: [name, street]
  # header: false              # CSV whose first line is a row already; columns are then named f0, f1, ...
  missing: []                  # cells that mean "missing", besides empty, NA and NaN: ["?", "-999"]
  # validation_path: later.csv # other people, evaluated after every round; at every party, or at none
  # test_path: test.csv        # a second table to test on; at a passive party only if align is false
  categorical: []              # columns of numbers that stand for categories, as text does with enable_categorical
  # monotone_constraints: { income: 1, age: -1 }   # features that may only raise (1) or lower (-1) the prediction
  # interaction_constraints: { a: [income, age] }  # features that may split below each other; groups all parties know
  normalise: []                # ids, the same at every party: nfkc, lowercase, digits, strip-leading-zeros
  duplicates: refuse           # of an id that stands on two lines: refuse, or keep the first or the last`;

function passiveText({ name, host, port }: InitOptions): string {
  return `# A passive party: it holds columns about people, and serves jobs of the active parties that it names.
# Start it with: tandem party -c passive.yaml
# docs/config.md in the repository lists every field.
name: ${JSON.stringify(name)}

listen:
  host: ${JSON.stringify(host)}
  port: ${port}

# This party's own certificate and its secret key.
tls:
  certificate: certificate.pem
  key: key.pem

# Who may connect, recognised by the fingerprint of its certificate. Compare it by telephone.
active:
  - name: active
    fingerprint: "PASTE-THE-ACTIVE-PARTYS-FINGERPRINT"

data:
${dataComments}

# What a job may ask for. A job that asks for more is refused. By then the ids have been aligned: only max_active_ids is
# checked before.
policy:
  # required: a person approves each job before it begins, with 'tandem requests' and 'tandem approve'. automatic: the
  # limits below decide alone. docs/approvals.md
  approval: automatic
  max_trees: 1000
  max_depth: 10                # 0: no limit
  min_key_bits: 2048           # of the active party's Paillier key
  max_active_ids: 10000000     # how many ids an active party may ask about in one alignment
  min_instances: 100           # fewer people than this are not trained on
  max_outputs: 1               # classes or quantiles of a model; more give a malicious active party more room for marks
  # What a job must do to lower what it gives away: exact (nothing), guarded or strict. guarded and strict keep sums
  # in shares (hidden_sums) where a job can, and add noise to them otherwise. docs/privacy-choices.md has what each of
  # them hides, and what it costs.
  privacy: guarded
  # Sums of groups with fewer people than this are suppressed, whatever the preset asks. 1 is no minimum. Small minimums
  # do not hide single people.
  min_instances_per_node: 1
  min_instances_per_candidate: 1  # on each side of a possible split
  schemes: [paillier]          # ciphers that a job may use; curve is faster and reveals the same;
                               # lattice is faster, hides who is in a node, and experimental
  # With lattice this party cannot count the members of a node. Minimums, those of a preset included, then apply
  # at the root only, and min_instances_per_node is left to the active party. To accept that, write:
  # lattice_minimums: root
  scoring: true                # may the active party use the models that it trained with this party?
  max_scoring_ids: 10000       # how many ids it may ask about in one request for scores
  explanations: false          # may it learn which splits of a tree share a feature, to explain scores?
  vetting: refused             # may it see what each column is worth for its label? unnamed, named, or refused
  warm_start: true             # may a job continue a model that was trained with this party before?
  min_instances_per_tree: 1    # trees that sum fewer people are refused; 1000 where you have many
  # What one active party may have, all jobs together. Without a line there is no limit. What it may ask for in a day
  # has limits in any case: docs/config.md, policy.budget.daily.ids.
  # budget:
  #   sums_per_person: 1         # sums without noise: with guarded and strict those of best candidates only; with exact
  #                              # half of your columns can be computed at 0.05, and all of them at 0.1
  #   noisy_sums_per_person: 1   # sums with noise
  #   outcomes_per_person: 500   # how often the side of a person at a won split is revealed
  #   scored_people: 100000

# Each job gets a folder in here: share.json (this party's part of the model), aligned.csv (its rows), the job's
# record, and what a restart needs to resume it.
output:
  directory: jobs
  transcript: true              # keep who was in which node, so that tandem audit --job can say what a job gave away

log:
  level: info                  # debug, info, warn or error

# threads: 4                   # of the alignment; without it as many as there are cores
`;
}

function activeText({ name, host, port }: InitOptions): string {
  return `# The active party: it holds the labels, and runs jobs with the passive parties that it names.
# Start one with: tandem train -c active.yaml
# docs/config.md in the repository lists every field.
name: ${JSON.stringify(name)}
# job: spring-model            # a name for the results; without it the time of the start
# purpose: what the model is for, in a line that owners of passive parties read before they approve the job

# Whom to train with, recognised by the fingerprint of its certificate. Compare it by telephone.
passives:
  - name: passive
    host: ${JSON.stringify(host)}
    port: ${port}
    fingerprint: "PASTE-THE-PASSIVE-PARTYS-FINGERPRINT"

# This party's own certificate and its secret key.
tls:
  certificate: certificate.pem
  key: key.pem

data:
${dataComments}
  label: label                 # the column to predict
  # positive: "yes"            # the label's value that counts as 1, if labels are words
  # classes: [low, mid, high]  # the label's values in their order, if they are words; without it they are sorted
  # weight: exposure           # a column of instance weights
  test_fraction: 0.25          # rows held back for testing; or test_path
  # validation_fraction: 0.2   # training rows to evaluate after every round, for early stopping; or validation_path
  # seed: 7                    # draws these rows; without it training's seed does

align: true                    # find the common people first; false: all files list the same people in the same order

# warm_start:
#   model: spring-model        # continue the trees of a finished job; num_round counts the new ones

# What lowers what the job gives away: exact (nothing), guarded or strict. docs/privacy-choices.md has what each of them
# hides, and what it costs. Passive parties may ask for more than this, and say so. Whether guarded keeps sums in
# shares or adds noise to them follows from this file: --explain-leakage prints which, and why.
privacy: guarded

# XGBoost's names; docs/parameters.md lists them all.
training:
  objective: binary:logistic   # or another one of docs/objectives.md
  num_round: 50
  max_depth: 3
  eta: 0.3
  # seed: 7                    # fixes everything but the cryptographic nonces

# scheme: paillier             # or curve or lattice (experimental), without key_bits, if all parties allow it
key_bits: 2048                 # shorter, for experiments only: insecure_key_bits
# threads: 4                   # of the alignment; without it as many as there are cores
# patience_seconds: 600        # how long to wait for a party that is gone; then the same command continues the job
# compare_alone: true          # print what the others' columns have added; the report has it unless this is false

# Each job gets a folder in here: share.json (this party's part of the model), predictions.csv, aligned.csv and
# report.html. While a job is under way its checkpoint.json is there too, with the job's private key.
output:
  directory: jobs
  transcript: true              # keep who was in which node, so that tandem audit --job can say what a job gave away
`;
}
