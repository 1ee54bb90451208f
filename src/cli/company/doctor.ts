/** `tandem doctor`: what a job needs, checked before there is one. One line per check. */
import type { Command } from "commander";
import { TandemError } from "../../base/error.ts";
import { isLocked } from "../../base/files/process-lock.ts";
import { type Check, failed, fromError, ok, skipped, wordsOf } from "../../party/checks/check.ts";
import type { ActiveConfig, PassiveConfig } from "../../party/config/config.ts";
import type { Address } from "../../transport/tls-settings.ts";
import { addExamples } from "../terminal/help-text.ts";
import { wholeNumber } from "../whole-number.ts";
import { companyCommand } from "./company-process.ts";

interface DoctorFlags {
  readonly config: string;
  readonly idle: string;
  readonly json?: boolean;
}

/** Checks of this party, or of the way to one partner. */
interface Group {
  readonly of: string;
  readonly checks: readonly Check[];
}

const stepMs = 10_000;

export function doctorCommand(): Command {
  const command = companyCommand("doctor", "check this party's files and machine, and the way to each partner")
    .option("--idle <seconds>", "how long a connection is left idle, to find devices that drop it; 0: not at all", "5")
    .option("--json", "print the result as one line of JSON")
    .action(runDoctor);
  return addExamples(command, "tandem doctor -c active.yaml", "tandem doctor -c passive.yaml --json");
}

async function runDoctor(flags: DoctorFlags): Promise<void> {
  const started = performance.now();
  const idleSeconds = wholeNumber("--idle", flags.idle, 0, 3600);
  const write = (group: string, check: Check): void => {
    if (flags.json !== true) process.stdout.write(`${lineOf(group, check)}\n`);
  };
  const groups: Group[] = [];
  const tell = (of: string, checks: readonly Check[]): void => {
    groups.push({ of, checks });
    for (const check of checks) write(of, check);
  };
  const config = await configOf(flags.config, tell);
  if (config !== null) await examine(config, idleSeconds, tell);
  const all = groups.flatMap(({ checks }) => checks);
  const count = (state: Check["state"]): number => all.filter((check) => check.state === state).length;
  const [failures, warnings] = [count("failed"), count("warning")];
  const seconds = Number(((performance.now() - started) / 1000).toFixed(1));
  if (flags.json === true)
    process.stdout.write(
      `${JSON.stringify({
        checks: groups.flatMap(({ of, checks }) => checks.map((check) => ({ of, ...check }))),
        failures,
        warnings,
        seconds,
      })}\n`,
    );
  else
    process.stdout.write(
      `${all.length} ${all.length === 1 ? "check" : "checks"} in ${seconds} s: ` +
        `${failures} failed, ${warnings} warnings\n`,
    );
  if (failures > 0) process.exitCode = 2;
}

export function lineOf(of: string, check: Check): string {
  return `${check.state.padEnd(7)}  ${of}: ${check.name}: ${wordsOf(check)}`;
}

type Role =
  | { readonly role: "active"; readonly config: ActiveConfig }
  | { readonly role: "passive"; readonly config: PassiveConfig };

async function configOf(path: string, tell: (of: string, checks: readonly Check[]) => void): Promise<Role | null> {
  const [{ roleOfConfig }, { readActiveConfig, readPassiveConfig }] = await Promise.all([
    import("../../party/config/config-role.ts"),
    import("../../party/config/config.ts"),
  ]);
  try {
    const role = await roleOfConfig(path);
    const read: Role =
      role === "active"
        ? { role, config: await readActiveConfig(path, () => "doctor") }
        : { role: "passive", config: await readPassiveConfig(path) };
    tell(read.config.name, [ok("config", `${path}: ${role === "active" ? "the active party" : "a passive party"}`)]);
    return read;
  } catch (error) {
    tell("this party", [fromError("config", "this party", error)]);
    return null;
  }
}

async function examine(
  party: Role,
  idleSeconds: number,
  tell: (of: string, checks: readonly Check[]) => void,
): Promise<void> {
  const { config } = party;
  const { name } = config;
  const [{ checkOwnCertificate }, machine, { checkPins }, { readIdentity }] = await Promise.all([
    import("../../party/checks/own-certificate.ts"),
    import("../../party/checks/own-machine.ts"),
    import("../../party/checks/pins.ts"),
    import("../../party/identity.ts"),
  ]);
  const own = await checkOwnCertificate(config.tls, name, Date.now());
  tell(name, own);
  const isSound = own.every(({ state }) => state !== "failed");
  const identity = isSound ? await readIdentity(config.tls) : null;
  const partners = party.role === "active" ? party.config.passives : party.config.active;
  const pins =
    identity === null
      ? null
      : checkPins(
          { name, certificate: identity.certificate },
          party.role === "active" ? "passives" : "active",
          partners,
        );
  if (pins !== null) tell(name, [pins]);
  const outputs = await machine.checkOutputs(config);
  tell(name, outputs);
  if (outputs[0].state === "ok") tell(name, await machine.checkDisk(config.output.directory, name));
  tell(name, [await machine.checkKernels(name), await machine.checkMemory(config), await dataOf(party)]);
  if (party.role === "passive") {
    const { listen } = party.config;
    if (listen !== undefined) tell(name, [await portOf(party.config, listen)]);
    const { checkWayToActive } = await import("../../party/checks/way-to-active.ts");
    for (const active of party.config.active) {
      const checks = await checkWayToActive(active, name, stepMs);
      if (checks.length > 0) tell(active.name, checks);
    }
    return;
  }
  if (identity === null || pins?.state === "failed")
    return tell(name, [skipped("partners", "they are asked when this party's own certificate and pins are in order")]);
  const { checkPartner } = await import("../../party/checks/partner.ts");
  const training = { enableCategorical: party.config.job.training.enable_categorical };
  const terms = { own: name, identity, training, timeoutMs: stepMs, measured: { idleSeconds } };
  await Promise.all(
    party.config.passives.map(async (passive) => tell(passive.name, (await checkPartner(passive, terms)).checks)),
  );
}

/** Reads the table as a job would. */
async function dataOf(party: Role): Promise<Check> {
  const check = "data";
  const words = (rows: number, features: number): string => `${rows.toLocaleString("en")} rows, ${features} features`;
  try {
    if (party.role === "active") {
      const { readActiveTables } = await import("../../party/active/tables.ts");
      const [{ rows }] = await readActiveTables(party.config);
      return ok(check, words(rows.table.ids.length, rows.table.featureNames.length));
    }
    const { DataCache } = await import("../../party/tables/data-cache.ts");
    const { table } = await new DataCache(party.config.data).table();
    return ok(check, words(table.ids.length, table.featureNames.length));
  } catch (error) {
    return fromError(check, party.config.name, error);
  }
}

/** Whether the party can listen; another process of it may do so already. */
async function portOf({ output, name }: PassiveConfig, { host, port }: Address): Promise<Check> {
  const check = "listen";
  const at = `${host}:${port}`;
  if (await isLocked(output.directory)) return ok(check, `${at}: this party is running`);
  const { canListen } = await import("../../base/listening/listening.ts");
  try {
    await canListen({ host, port });
    return ok(check, `${at} is free; whether partners reach it is seen from their side: tandem doctor there`);
  } catch (error) {
    if (!(error instanceof TandemError)) throw error;
    return failed(check, {
      code: "USAGE",
      words: error.message,
      who: name,
      todo: "stop the program that uses the port, or choose another address under listen",
    });
  }
}
