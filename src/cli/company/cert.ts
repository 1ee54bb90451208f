/** `tandem cert`: a party's certificate, and its renewal in steps. */
import { Command } from "commander";
import { TandemError } from "../../base/error.ts";
import type { CertificatePair } from "../../party/certificates/certificate-pair.ts";
import type { Renewal } from "../../party/certificates/renewal.ts";
import type { ActiveConfig, PassiveConfig } from "../../party/config/config.ts";
import { addExamples } from "../terminal/help-text.ts";
import { wholeNumber } from "../whole-number.ts";

interface CertFlags {
  readonly config: string;
}
interface ShowFlags extends CertFlags {
  readonly json?: boolean;
}
interface RenewFlags extends CertFlags {
  readonly days: string;
  readonly request?: boolean;
}
interface SwitchFlags extends CertFlags {
  readonly force?: boolean;
}

type Company =
  | { readonly role: "active"; readonly config: ActiveConfig }
  | { readonly role: "passive"; readonly config: PassiveConfig };

const partnerMs = 5000;

export function certCommand(): Command {
  const command = new Command("cert").description("show and renew this party's certificate, without interrupting jobs");
  const step = (name: string, description: string): Command =>
    command
      .command(name)
      .description(description)
      .requiredOption("-c, --config <file>", "the party's config, as 'tandem init' writes it");
  step("show", "print this party's certificates with their dates, and the pins of its partners")
    .option("--json", "print them as one line of JSON")
    .action(show);
  step("renew", "make the next key and certificate; the current ones stay in use")
    .option("--days <days>", "how long the next certificate is valid", "730")
    .option("--request", "write a request for your own authority instead of a self-signed certificate")
    .action(renew);
  step("switch", "put the next certificate into use; a running party reads it by itself")
    .option("--force", "also if a partner does not accept it yet")
    .action(switchOver);
  step("finish", "delete the previous key, once everything works").action(finish);
  step("rollback", "go back to the previous certificate, or discard the next one").action(rollback);
  return addExamples(
    command,
    "tandem cert show -c passive.yaml",
    "tandem cert renew -c passive.yaml",
    "tandem cert switch -c passive.yaml",
    "tandem cert finish -c passive.yaml",
  );
}

async function companyOf(path: string): Promise<Company> {
  const [{ roleOfConfig }, { readActiveConfig, readPassiveConfig }] = await Promise.all([
    import("../../party/config/config-role.ts"),
    import("../../party/config/config.ts"),
  ]);
  return (await roleOfConfig(path)) === "active"
    ? { role: "active", config: await readActiveConfig(path, () => "cert") }
    : { role: "passive", config: await readPassiveConfig(path) };
}

function partnersOf({ role, config }: Company) {
  return role === "active" ? config.passives : config.active;
}

async function show({ config: path, json }: ShowFlags): Promise<void> {
  const company = await companyOf(path);
  const { readRenewal, interruptedPair } = await import("../../party/certificates/renewal.ts");
  const state = await readRenewal(company.config);
  const { name } = company.config;
  const partners = partnersOf(company).map((partner) => ({ name: partner.name, pins: partner.fingerprint }));
  if (json === true) {
    const own = Object.fromEntries(pairsOf(state).map(({ stage, certificate }) => [stage, certificate]));
    return print(JSON.stringify({ name, ...own, partners }));
  }
  const lines = [
    name,
    ...pairsOf(state).map((pair) => `  ${pair.stage.padEnd(9)} ${certificateWords(pair, Date.now())}`),
    ...partners.flatMap((partner) => [partner.name, ...partner.pins.map((pin, i) => `  pin ${i + 1}     ${pin}`)]),
  ];
  if (interruptedPair(state) !== null)
    lines.push("", "A switch was interrupted between key and certificate. Repeat: tandem cert switch");
  print(lines.join("\n"));
}

function pairsOf({ current, next, previous }: Renewal): readonly CertificatePair[] {
  return [current, next, previous].filter((pair) => pair !== null);
}

function certificateWords({ certificate, paths, fits, hasKey }: CertificatePair, now: number): string {
  if (certificate === null) return `${paths.certificate}: not there yet`;
  const { fingerprint, from, until } = certificate;
  const days = Math.floor((until - now) / 86_400_000);
  const left = days < 0 ? "expired" : `${days} days left`;
  const trouble = fits ? "" : hasKey ? `; ${paths.key} is not its key` : `; ${paths.key} is missing`;
  return `${fingerprint}  ${dayOf(from)} to ${dayOf(until)}, ${left}${trouble}`;
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

async function renew({ config: path, days: given, request }: RenewFlags): Promise<void> {
  const days = wholeNumber("--days", given, 1, 3650);
  const company = await companyOf(path);
  const { renewCertificate } = await import("../../party/certificates/renewal.ts");
  const made = await renewCertificate(company.config, days, request === true);
  if (made.request !== null)
    return print(
      [
        `Wrote ${made.request}, and its secret key ${made.paths.key}.`,
        `Have your authority sign the request, and store the certificate as ${made.paths.certificate}.`,
        `Then send its fingerprint (tandem fingerprint ${made.paths.certificate}) to ${namesOf(company)}.`,
      ].join("\n"),
    );
  const { readFingerprint } = await import("./read-fingerprint.ts");
  const fingerprint = await readFingerprint(made.paths.certificate);
  print(
    [
      `Wrote ${made.paths.certificate} and its secret key. The current certificate stays in use.`,
      "",
      `The next fingerprint:  ${fingerprint}`,
      "",
      `Send it to ${namesOf(company)}, for their configs, as a second pin:`,
      `  fingerprint: [<the current one>, ${fingerprint}]`,
      `When they have confirmed that: tandem cert switch -c ${path}`,
    ].join("\n"),
  );
}

async function switchOver({ config: path, force }: SwitchFlags): Promise<void> {
  const company = await companyOf(path);
  const { switchCertificate } = await import("../../party/certificates/renewal.ts");
  if (company.role === "active" && force !== true) await requireAccepted(company.config);
  await switchCertificate(company.config);
  print(
    [
      "The next certificate is in use: running parties show it to new connections within seconds, and jobs continue.",
      `When partners connect as before: tandem cert finish -c ${path}`,
      `If one does not: tandem cert rollback -c ${path}`,
    ].join("\n"),
  );
}

/** @throws TandemError CERTIFICATE naming a partner that does not accept the next certificate */
async function requireAccepted(config: ActiveConfig): Promise<void> {
  const [{ pathsOf }, { readRenewal }, { readIdentity }, { checkPartner }] = await Promise.all([
    import("../../party/certificates/certificate-pair.ts"),
    import("../../party/certificates/renewal.ts"),
    import("../../party/identity.ts"),
    import("../../party/checks/partner.ts"),
  ]);
  if ((await readRenewal(config)).next?.fits !== true) return; // switching says what is wrong
  const identity = await readIdentity({ ...config.tls, ...pathsOf(config.tls, "next") });
  await Promise.all(
    config.passives.map(async (passive) => {
      const terms = { own: config.name, identity, timeoutMs: partnerMs, measured: null };
      const { checks } = await checkPartner(passive, terms);
      const wrong = checks.find(({ state }) => state === "failed");
      if (wrong === undefined) return;
      if (wrong.name !== "accepted")
        return void process.stderr.write(`${passive.name} was not asked whether it accepts it: ${wrong.words}\n`);
      throw new TandemError(
        "CERTIFICATE",
        `${passive.name} does not accept the next certificate yet. ${passive.name} must add its fingerprint as a ` +
          "second pin; --force switches anyway",
      );
    }),
  );
}

async function finish({ config: path }: CertFlags): Promise<void> {
  const company = await companyOf(path);
  const { finishRenewal } = await import("../../party/certificates/renewal.ts");
  if (!(await finishRenewal(company.config))) return print("There is no previous certificate: nothing to do.");
  print(`The previous key is deleted. ${namesOf(company)} should remove its pin now.`);
}

async function rollback({ config: path }: CertFlags): Promise<void> {
  const company = await companyOf(path);
  const { rollBack } = await import("../../party/certificates/renewal.ts");
  const done = await rollBack(company.config);
  if (done === null) return print("There is no renewal: nothing to do.");
  print(
    done === "discarded"
      ? "The next certificate is deleted."
      : "The previous certificate is in use again, and the other one is the next. Repeat to delete it.",
  );
}

function namesOf(company: Company): string {
  return partnersOf(company)
    .map(({ name }) => name)
    .join(" and ");
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
