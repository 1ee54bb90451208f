/**
 * What a party needs once to have a crew: an authority that signs three certificates and is then forgotten, the key
 * that seals, and configs for the engine, the workers and their platforms.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import * as z from "zod";
import { requireNewFile } from "../../base/files/new-file.ts";
import { TandemError } from "../../base/error.ts";
import { programVersion } from "../../base/program-version.ts";
import { osRandom } from "../../base/random.ts";
import { crewSyntax, crewSyntaxWords, partyUser, workerUser } from "../../crew/crew-name.ts";
import { serverConfigText } from "../../crew/nats/server-config.ts";
import { crewKeyBytes } from "../../crew/seal.ts";
import { createAuthority } from "../../transport/certificates.ts";
import { defaultScheme } from "../../scheme/registry.ts";
import { text } from "../../base/parameters/config-fields.ts";
import { ConfigFile } from "../config/config-file.ts";
import { noTasksWords } from "../config/crew-config.ts";
import { crewFiles, type CrewFacts } from "./crew-names.ts";
import { composeText, helmValuesText } from "./engine-text.ts";
import { kubernetesText } from "./kubernetes-text.ts";
import { partyLines, workerText } from "./worker-text.ts";

export interface InitCrewOptions {
  /** The party's config. */
  readonly party: string;
  /** The crew's name; undefined: the party's. */
  readonly name?: string | undefined;
  /** Where the engine's servers are reached. */
  readonly hosts: readonly string[];
  readonly port: number;
  readonly directory: string;
}

const validDays = 730;
/** Besides its public names: processes on the same host use this one. */
const nearHosts = ["localhost", "127.0.0.1"];

/** @throws TandemError FILE_UNWRITABLE; nothing that exists is overwritten */
export async function initCrew({ party, name, hosts, port, directory }: InitCrewOptions): Promise<CrewFacts> {
  const config = await ConfigFile.read(party);
  const { name: partyName, scheme } = config.parse(z.looseObject({ name: text, scheme: z.string().optional() }));
  const crew = name ?? partyName;
  if (!crewSyntax.test(crew))
    throw new TandemError("USAGE", `--name: a crew's name ${crewSyntaxWords}; '${crew}' cannot be one`);
  const servers = hosts.map((host) => `tls://${host}:${port}`);
  const isActive = config.has("passives");
  const noTasks = isActive ? noTasksWords(scheme ?? defaultScheme) : null;
  if (noTasks !== null) throw new TandemError("USAGE", `${party}: ${noTasks}`);
  const listen = { host: listenHost(hosts), port: portBeside(port, 100) };
  const facts: CrewFacts = { crew, servers, listen, version: programVersion(), isActive };
  const folder = relative(dirname(resolve(party)), resolve(directory));
  const files = await filesOf(facts, hosts, port, folder === "" ? "" : `${folder}/`);
  for (const name of files.keys()) await requireNewFile(join(directory, name), "Choose another folder with --out");
  try {
    await mkdir(join(directory, crewFiles.blocks), { recursive: true, mode: 0o700 });
    for (const [file, content] of files) await writeFile(join(directory, file), content, { mode: 0o600, flag: "wx" });
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? ` (${String(cause.code)})` : "";
    throw new TandemError("FILE_UNWRITABLE", `${directory} cannot be written${code}`, { cause });
  }
  return facts;
}

async function filesOf(
  facts: CrewFacts,
  hosts: readonly string[],
  port: number,
  folder: string,
): Promise<ReadonlyMap<string, string>> {
  const { crew } = facts;
  const authority = await createAuthority(`Tandem crew ${crew}`, validDays);
  const issue = (name: string, names: readonly string[] = [name]) => authority.issue(name, names);
  const server = await issue("engine", [...new Set([...hosts, ...nearHosts])]);
  const [party, worker] = [await issue(partyUser(crew)), await issue(workerUser(crew))];
  const secret = `${Buffer.from(osRandom.fill(new Uint8Array(crewKeyBytes))).toString("hex")}\n`;
  const listen = `${listenHost(hosts)}:${port}`;
  return new Map([
    [crewFiles.authority, authority.certificate],
    [crewFiles.server.certificate, server.certificate],
    [crewFiles.server.key, server.key],
    [crewFiles.party.certificate, party.certificate],
    [crewFiles.party.key, party.key],
    [crewFiles.worker.certificate, worker.certificate],
    [crewFiles.worker.key, worker.key],
    [crewFiles.secret, secret],
    [crewFiles.serverConfig, serverConfigText({ crew, listen, monitor: `127.0.0.1:${portBeside(port, 4000)}` })],
    [crewFiles.partyConfig, partyLines(facts, folder)],
    [crewFiles.workerConfig, workerText(facts)],
    [crewFiles.kubernetes, kubernetesText(facts, { ...worker, authority: authority.certificate, secret })],
    [crewFiles.compose, composeText(facts)],
    [crewFiles.helmValues, helmValuesText(facts)],
  ]);
}

/** All of this machine's addresses, unless everything is on it. */
function listenHost(hosts: readonly string[]): string {
  return hosts.every((host) => nearHosts.includes(host)) ? "127.0.0.1" : "0.0.0.0";
}

/** Two engines on one machine have different ones: 8222 beside 4222, as everywhere. */
function portBeside(port: number, apart: number): number {
  return port + apart > 65_535 ? port - apart : port + apart;
}
