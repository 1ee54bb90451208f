/** A crew's folder on this machine, as `tandem init crew` makes it, and what configs say of it. */
import { join } from "node:path";
import { writeFile } from "node:fs/promises";
import type { PassiveConfigInput } from "../../../src/party/config/config.ts";
import { crewFiles } from "../../../src/party/crew-files/crew-names.ts";
import { initCrew } from "../../../src/party/crew-files/init-crew.ts";
import { EngineServers } from "./engine-servers.ts";

export type CrewSection = NonNullable<PassiveConfigInput["crew"]>;

export interface CrewHome {
  readonly servers: EngineServers;
  /** `crew:` of the party's config. */
  readonly section: CrewSection;
  /** What `tandem worker -c` reads. */
  readonly workerConfig: string;
}

export interface CrewHomeOptions {
  readonly program: string;
  /** The party's config, as `tandem init` writes it. */
  readonly party: string;
  readonly folder: string;
  readonly serverCount: number;
  readonly section: Partial<CrewSection>;
}

/** Nothing is started. */
export async function makeCrewHome({
  program,
  party,
  folder,
  serverCount,
  section,
}: CrewHomeOptions): Promise<CrewHome> {
  const { crew: name } = await initCrew({ party, hosts: ["127.0.0.1"], port: 4222, directory: folder });
  const servers = await EngineServers.plan(program, folder, serverCount);
  const path = (file: string): string => join(folder, file);
  const access = (who: { readonly certificate: string; readonly key: string }) => ({
    name,
    servers: servers.urls,
    tls: { certificate: path(who.certificate), key: path(who.key), authority: path(crewFiles.authority) },
    secret: path(crewFiles.secret),
    folder: path(crewFiles.blocks),
  });
  const workerConfig = path("worker.json");
  await writeFile(workerConfig, JSON.stringify(access(crewFiles.worker)), { mode: 0o600 });
  return {
    servers,
    section: { ...access(crewFiles.party), listen: { host: "127.0.0.1", port: 0 }, ...section },
    workerConfig,
  };
}
