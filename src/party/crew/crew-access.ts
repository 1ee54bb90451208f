/** Opens the engine that a config names, and reads the key that seals what it carries. */
import { TandemError } from "../../base/error.ts";
import { withPackages } from "../../base/optional-package.ts";
import { readSecretFile } from "../../base/files/secret-file.ts";
import type { Engine } from "../../crew/engine.ts";
import type { LineIdentity } from "../../crew/line/tls-line.ts";
import type { NatsEngineOptions } from "../../crew/nats-engine.ts";
import { crewKeyBytes, type Seal, sealOf } from "../../crew/seal.ts";
import type { CrewAccess, CrewConfig } from "../config/crew-config.ts";
import { readIdentity } from "../identity.ts";

/**
 * A party's workers send a heartbeat every second; after three missed ones they are lost. A worker that has lost its
 * lease must not count any longer: others take its blocks one by one only as long as they must leave it a share.
 */
const statusMs = 5000;

export interface OpenedCrew {
  readonly engine: Engine;
  /** Who this process is to the others of its crew. */
  readonly identity: LineIdentity;
  sealOf(epoch: string): Seal;
}

export type EngineOptions = Pick<NatsEngineOptions, "patienceMs" | "firstPatienceMs" | "signal" | "onWait">;

/** A party's: it makes streams. @throws TandemError as openNatsEngine does, and FILE_UNREADABLE, KEY_FORMAT */
export function openPartyEngine(crew: CrewConfig, options: EngineOptions): Promise<OpenedCrew> {
  const { store, replicas, lease_seconds: leaseSeconds } = crew;
  const leaseMs = leaseSeconds * 1000;
  const keeping = { store, replicas, leaseMs, statusMs: Math.min(statusMs, leaseMs) };
  return opened(crew, `tandem party ${crew.name}`, { ...options, keeping });
}

/** A worker's. @throws TandemError as above */
export function openWorkerEngine(crew: CrewAccess, id: string, options: EngineOptions): Promise<OpenedCrew> {
  return opened(crew, `tandem worker ${id}`, options);
}

async function opened(
  { name, servers, tls, secret }: CrewAccess,
  client: string,
  options: EngineOptions & Pick<NatsEngineOptions, "keeping">,
): Promise<OpenedCrew> {
  const crewKey = await readCrewKey(secret, tls.insecure_key_file);
  const { certificate, key, authority = "" } = await readIdentity(tls, "tandem init crew");
  const needed = { feature: "a crew", packages: ["@nats-io/transport-node", "@nats-io/jetstream"] };
  const { openNatsEngine } = await withPackages(needed, () => import("../../crew/nats-engine.ts"));
  const identity = { crew: name, tls: { certificate, key, authority } };
  const engine = await openNatsEngine({ ...options, ...identity, servers, client });
  return { engine, identity, sealOf: (epoch) => sealOf(crewKey, epoch) };
}

/** 64 hex digits and a line's end. @throws TandemError KEY_FORMAT, and FILE_UNREADABLE also where others may read it */
export async function readCrewKey(path: string, insecure: boolean): Promise<Uint8Array> {
  let content: string;
  try {
    content = await readSecretFile(path, { insecure });
  } catch (cause) {
    if (cause instanceof TandemError) throw cause;
    throw new TandemError("FILE_UNREADABLE", `${path} cannot be read. 'tandem init crew' makes a crew's key`, {
      cause,
    });
  }
  const hex = content.trim();
  if (!/^[0-9a-f]*$/.test(hex) || hex.length !== crewKeyBytes * 2)
    throw new TandemError(
      "KEY_FORMAT",
      `${path} is not a crew's key: 64 hex digits, as 'tandem init crew' writes them`,
    );
  return Buffer.from(hex, "hex");
}
