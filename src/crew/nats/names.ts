/**
 * Names of a crew's streams and subjects. A crew keeps to `tandem-<crew>-...` and `tandem.<crew>.>`: rights in the
 * server's config are made of these, so that one crew cannot touch another's.
 */
import { assert } from "../../base/assert.ts";
import { crewSyntax } from "../crew-name.ts";

/** A stream per kind of stored message: those who follow sums do not make the server read past the logs. */
export const storedKinds = ["log", "sum", "done"] as const;
type StoredKind = (typeof storedKinds)[number];

/** A stream per kind of what is offered, by the first word of a queue's name. */
export const queueKinds = ["hold", "task"] as const;
type QueueKind = (typeof queueKinds)[number];
const queueStreams: Readonly<Record<QueueKind, string>> = { hold: "queue", task: "tasks" };

const epochSyntax = /^[0-9A-Za-z]{1,64}$/;
const wordSyntax = /^[0-9A-Za-z_-]+$/;

export interface EpochNames {
  /** The stream that a queue belongs to. */
  queueStream(name: string): string;
  queue(name: string): string;
  /** A consumer's name has no dots. */
  queueConsumer(name: string): string;
  /** The stream that a subject or a filter belongs to. */
  stream(subject: string): string;
  /** A subject or a filter as the server has it. */
  stored(subject: string): string;
  said(subject: string): string;
  /** As those above have it. */
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
      `'${subject}' is words with dots between them`,
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
  assert(kind !== undefined, `what is stored begins with one of ${storedKinds.join(", ")}`);
  return kind;
}

/** @returns whether a stream belongs to some epoch of the crew, and so not to its board or to another crew */
export function isOfAnEpoch(crew: string, stream: string): boolean {
  const prefix = `tandem-${crew}-`;
  return stream.startsWith(prefix) && /^[0-9A-Za-z]+-(?:log|sum|done|queue|tasks)$/.test(stream.slice(prefix.length));
}

/** What stays, and what goes when nobody writes it again. */
export const boardKinds = ["lasting", "passing"] as const;
export type BoardKind = (typeof boardKinds)[number];

export function boardStream(crew: string, kind: BoardKind): string {
  return `tandem-${crew}-${kind}`;
}

/** @param key words with dots between them, or `>` */
export function boardSubject(crew: string, kind: BoardKind, key: string): string {
  return `tandem.${crew}.board.${kind}.${key}`;
}
