/**
 * The permissions of a crew's users on a server: no more than the engine needs. Stream names have no dots, so a server
 * cannot grant permissions for some of them: a crew therefore has its own account without other streams.
 */
import { statusStream, statusSubject, storedKinds } from "./names.ts";

export interface Rights {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

const consumers = ["CREATE.>", "INFO.*.*", "MSG.NEXT.*.*"].map((what) => `$JS.API.CONSUMER.${what}`);
const answers = "_INBOX.>";

/** It creates and deletes streams, and writes everything. */
export function partyRights(crew: string): Rights {
  const streams = ["CREATE", "UPDATE", "INFO", "DELETE", "PURGE"].map((what) => `$JS.API.STREAM.${what}.*`);
  return {
    publish: [
      `tandem.${crew}.>`,
      "$JS.API.STREAM.NAMES",
      ...streams,
      "$JS.API.CONSUMER.DURABLE.CREATE.*.*",
      "$JS.API.CONSUMER.DELETE.*.*",
      ...consumers,
      "$JS.ACK.>",
    ],
    subscribe: [`tandem.${crew}.>`, answers],
  };
}

/**
 * It writes answers, and its own entry of the status table. It may not delete consumers, which are the leases of other
 * workers: its own expire when it stops reading.
 */
export function workerRights(crew: string): Rights {
  const answered = storedKinds.filter((kind) => kind !== "log").map((kind) => `tandem.${crew}.*.${kind}.>`);
  return {
    publish: [
      ...answered,
      `tandem.${crew}.*.said.>`,
      statusSubject(crew, "passing", ">"),
      "$JS.API.STREAM.INFO.*",
      `$JS.API.STREAM.PURGE.${statusStream(crew, "passing")}`,
      ...consumers,
      "$JS.ACK.>",
    ],
    subscribe: [`tandem.${crew}.*.said.>`, answers],
  };
}
