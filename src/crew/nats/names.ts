/**
 * Names of a crew's streams and subjects. A crew uses `tandem-<crew>-...` and `tandem.<crew>.>`: the permissions in the
 * server's config are based on these, so that one crew cannot access another's.
 */
import { assert } from "../../base/assert.ts";
import { crewSyntax } from "../crew-name.ts";

/** One stream per kind of stored message, so that readers of sums do not make the server skip the logs. */
export const storedKinds = ["log", "sum", "done"] as const;
type StoredKind = (typeof storedKinds)[number];

/** One stream per kind of offered item, by the first word of a queue's name. */
export const queueKinds = ["hold", "task"] as const;
type QueueKind = (typeof queueKinds)[number];
const queueStreams: Readonly<Record<QueueKind, string>> = { hold: "queue", task: "tasks" };

const epochSyntax = /^[0-9A-Za-z]{1,64}$/;
const wordSyntax = /^[0-9A-Za-z_-]+$/;

export interface EpochNames {
  /** The stream of a queue. */
  queueStream(name: string): string;
  queue(name: string): string;
  /** A consumer's name has no dots. */
  queueConsumer(name: string): string;
  /** The stream of a subject or a filter. */
  stream(subject: string): string;
  /** A subject or a filter in the server's form. */
  stored(subject: string): string;
  said(subject: string): string;
  /** A subject in the form of the layers above. */
  own(serverSubject: string): string;
}

export function epochNames(crew: string, epoch: string): EpochNames {
  assert(crewSyntax.test(crew) && epochSyntax.test(epoch), "a crew and an epoch are words");
  const streams = `tandem-${crew}-${epoch}`;
  const subjects = `tandem.${crew}.${epoch}`;
  const checked = (subject: string): string => {
    const words = subject.split(".");
    assert(
      words.every((word, i) => wordSyntax.test(word) || (word === ">" && i > 0 && i === words.length - 1)),
      `'${subject}' consists of words separated by dots`,
    );
    return subject;
  };
  return {
    queueStream: (name) => `${streams}-${queueStreams[queueKindOf(name)]}`,
    queue: (name) => `${subjects}.queue.${checked(name)}`,
    queueConsumer: (name) => checked(name).replaceAll(".", "_"),
    stream: (subject) => `${streams}-${kindOf(subject)}`,
    stored: (subject) => `${subjects}.${checked(subject)}`,
    said: (subject) => `${subjects}.said.${checked(subject)}`,
    own: (serverSubject) => serverSubject.slice(subjects.length + 1).replace(/^said\./, ""),
  };
}

function queueKindOf(name: string): QueueKind {
  const [first] = name.split(".");
  const kind = queueKinds.find((known) => known === first);
  assert(kind !== undefined, `a queue's name begins with one of ${queueKinds.join(", ")}`);
  return kind;
}

function kindOf(subject: string): StoredKind {
  const [first] = subject.split(".");
  const kind = storedKinds.find((known) => known === first);
  assert(kind !== undefined, `a stored subject begins with one of ${storedKinds.join(", ")}`);
  return kind;
}

/** @returns whether a stream belongs to an epoch of the crew, rather than to its status table or to another crew */
export function isOfAnEpoch(crew: string, stream: string): boolean {
  const prefix = `tandem-${crew}-`;
  return stream.startsWith(prefix) && /^[0-9A-Za-z]+-(?:log|sum|done|queue|tasks)$/.test(stream.slice(prefix.length));
}

/** Entries that last, and entries that expire unless renewed. */
export const statusKinds = ["lasting", "passing"] as const;
export type StatusKind = (typeof statusKinds)[number];

export function statusStream(crew: string, kind: StatusKind): string {
  return `tandem-${crew}-${kind}`;
}

/** @param key words separated by dots, or `>` */
export function statusSubject(crew: string, kind: StatusKind, key: string): string {
  return `tandem.${crew}.board.${kind}.${key}`;
}
