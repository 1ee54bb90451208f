/** `tandem init` and `tandem fingerprint`: the setup of a company. */
import { Command } from "commander";
import { TandemError } from "../../base/error.ts";
import { addExamples } from "../terminal/help-text.ts";
import { portNumber } from "../whole-number.ts";
import { readFingerprint } from "./read-fingerprint.ts";

interface InitFlags {
  readonly party?: string;
  readonly name?: string;
  readonly host?: string;
  readonly port?: string;
  readonly room?: string;
  readonly out: string;
}

const defaultPort = "7443";

export function initCommand(): Command {
  const command = new Command("init")
    .description("write a commented config, a key and a certificate for one company; or what its workers need")
    .argument("<role>", "active (has the labels), passive, crew (a party's workers), relay, or room (of a relay)")
    .option("--name <name>", "this company's name (default: its role), or the crew's (default: the party's)")
    .option(
      "--host <host>",
      "where the passive party listens (default: all addresses in a passive config, localhost in an active one); " +
        "of a crew: where its engine is reached, several separated by commas (default: localhost); " +
        "of a relay: where it listens",
    )
    .option("--port <port>", `its port (default: ${defaultPort}; of a crew's engine 4222, of a relay 443)`)
    .option("--party <file>", "of a crew: the config of the party that it works for")
    .option("--room <name>", "of a relay: the name of its first room (default: room-1)")
    .option("--out <folder>", "where to write them", ".")
    .action(async (role: string, flags: InitFlags) => {
      if (role === "relay") return (await import("./init-relay.ts")).runInitRelay(flags);
      if (role === "room") return (await import("./init-relay.ts")).runInitRoom(flags);
      if (role === "crew") return (await import("./init-crew.ts")).runInitCrew(flags);
      if (role !== "active" && role !== "passive")
        throw new TandemError("USAGE", `init takes 'active', 'passive', 'crew', 'relay' or 'room'; got '${role}'`);
      const port = portNumber("--port", flags.port ?? defaultPort);
      const { initParty } = await import("../../party/init.ts");
      const host = flags.host ?? (role === "passive" ? "0.0.0.0" : "localhost");
      const made = await initParty({ role, name: flags.name ?? role, host, port, directory: flags.out });
      process.stdout.write(nextSteps(role, made.configPath, made.fingerprint));
    });
  return addExamples(
    command,
    "tandem init active --name bank",
    "tandem init passive --name retailer --port 7443",
    "tandem init crew --party passive.yaml --out crew",
    "tandem init relay --room bank-retailer --out relay",
  );
}

function nextSteps(role: "active" | "passive", configPath: string, fingerprint: string): string {
  const other = role === "active" ? "passive" : "active";
  const theirs = role === "active" ? "name, address and fingerprint" : "name and fingerprint";
  const run = role === "active" ? `tandem train -c ${configPath}` : `tandem party -c ${configPath}`;
  return [
    `Wrote ${configPath}, a secret key next to it (key.pem: keep it here) and a certificate.`,
    "",
    `This party's fingerprint:  ${fingerprint}`,
    "",
    `Next: send this party's name and fingerprint to the ${other} party. Write that party's ${theirs},`,
    `and where your data is, into ${configPath}. Then run: ${run}`,
    "",
  ].join("\n");
}

export function fingerprintCommand(): Command {
  return new Command("fingerprint")
    .description("print the fingerprint of a certificate, for the config of the other side")
    .argument("<certificate>", "a PEM file")
    .action(async (path: string) => void process.stdout.write(`${await readFingerprint(path)}\n`));
}
