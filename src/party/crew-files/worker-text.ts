/** worker.yaml, and the lines of the party's own config. */
import { crewFiles, type CrewFacts, mounted } from "./crew-names.ts";

/** @param folder in front of the files' names, with a slash at its end */
export function partyLines({ crew, servers, listen, isActive }: CrewFacts, folder: string): string {
  const { party, authority, secret } = crewFiles;
  const ofBlocks = `
  # The blocks' bins, for the workers: a folder that all of them reach.
  folder: ${JSON.stringify(folder + crewFiles.blocks)}
  # Workers connect here and fetch a round's gradients; without it, or where they cannot, the engine carries them.
  listen: { host: ${listen.host}, port: ${listen.port} }
  store: file                  # or memory: then no message is ever on the engine's disk
  # block_rows: auto           # or a power of two from 256 on; the model stays the same`;
  return `
# Heavy work is done by this party's workers; without these lines this process does it all. docs/scale-out.md says more.
crew:
  servers: ${listText(servers)}
  name: ${crew}
  tls:
    certificate: ${JSON.stringify(folder + party.certificate)}
    key: ${JSON.stringify(folder + party.key)}
    authority: ${JSON.stringify(folder + authority)}
  secret: ${JSON.stringify(folder + secret)}${isActive ? "" : ofBlocks}
  replicas: 1                  # 3 with three servers: one may die without a wait for its restart
  # lease_seconds: 10          # after so long without a sign of a worker others do its work
  # workers_min: 1             # a job waits for this many
`;
}

export function workerText({ crew, servers }: CrewFacts): string {
  const { worker, authority, secret, blocks } = crewFiles;
  return `# A worker of ${crew}. It opens no port and stores nothing. Start as many as you like:
# tandem worker -c worker.yaml
# It needs this file, the four that it names, and the folder with the party's blocks.
name: ${crew}
servers: ${listText(servers)}
tls:
  certificate: ${worker.certificate}
  key: ${worker.key}
  authority: ${authority}
secret: ${secret}
folder: ${blocks}                # the party's crew.folder, as this machine sees it
# threads: 8                   # without it as many as there are cores
`;
}

/** In a container: mounted secrets can be read by its group. */
export function containerWorkerText({ crew, servers }: CrewFacts): string {
  const { worker, authority, secret } = crewFiles;
  return `name: ${crew}
servers: ${listText(servers)}
tls:
  certificate: ${worker.certificate}
  key: ${worker.key}
  authority: ${authority}
  insecure_key_file: true
secret: ${secret}
folder: ${mounted.blocks}
`;
}

function listText(servers: readonly string[]): string {
  return `[${servers.map((server) => JSON.stringify(server)).join(", ")}]`;
}
