/**
 * What a crew's users may do on a server: no more than the engine does. Streams have no dots in their names, so that a
 * server cannot give rights on some of them: a crew therefore has an account of its own, where there are no others.
 */
import { boardStream, boardSubject, storedKinds } from "./names.ts";

export interface Rights {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

const consumers = ["CREATE.>", "INFO.*.*", "DELETE.*.*", "MSG.NEXT.*.*"].map((what) => `$JS.API.CONSUMER.${what}`);
const answers = "_INBOX.>";

/** It makes and deletes streams, and writes everything. */
export function partyRights(crew: string): Rights {
  const streams = ["CREATE", "UPDATE", "INFO", "DELETE", "PURGE"].map((what) => `$JS.API.STREAM.${what}.*`);
  return {
    publish: [
      `tandem.${crew}.>`,
      "$JS.API.STREAM.NAMES",
      ...streams,
      "$JS.API.CONSUMER.DURABLE.CREATE.*.*",
      ...consumers,
      "$JS.ACK.>",
    ],
    subscribe: [`tandem.${crew}.>`, answers],
  };
}

/** It writes answers, and its own line on the board. */
export function workerRights(crew: string): Rights {
  const answered = storedKinds.filter((kind) => kind !== "log").map((kind) => `tandem.${crew}.*.${kind}.>`);
  return {
    publish: [
      ...answered,
      `tandem.${crew}.*.said.>`,
      boardSubject(crew, "passing", ">"),
      "$JS.API.STREAM.INFO.*",
      `$JS.API.STREAM.PURGE.${boardStream(crew, "passing")}`,
      ...consumers,
      "$JS.ACK.>",
    ],
    subscribe: [`tandem.${crew}.*.said.>`, answers],
  };
}
