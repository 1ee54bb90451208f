/** The subjects of a crew's messages within an epoch, and the keys of its status table. */
export const holdQueue = "hold";
export const allLogs = "log.>";
export const allSums = "sum.>";
export const whoHolds = "who-holds";
export const roundBegan = "round";
export const allHeld = "held.>";
export const taskQueue = "task";
export const allDone = "done.>";
export const termsWanted = "terms-wanted";
export const allUnread = "unread.>";
export const allWanted = "wanted.>";

export const logSubject = (block: number): string => `log.${block}`;
export const heldSubject = (block: number): string => `held.${block}`;
export const unreadSubject = (block: number): string => `unread.${block}`;
export const wantedSubject = (block: number): string => `wanted.${block}`;
export const sumSubject = (round: number, step: number, block: number, piece: number): string =>
  `sum.${round}.${step}.${block}.${piece}`;
export const doneSubject = (id: number): string => `done.${id}`;
export const termsSubject = (worker: string): string => `terms.${worker}`;

export const epochKey = "epoch";
const workerPrefix = "worker.";
export const workerKey = (id: string): string => `${workerPrefix}${id}`;
export const workerId = (key: string): string => key.slice(workerPrefix.length);
export const isWorkerKey = (key: string): boolean => key.startsWith(workerPrefix);

/** The last word of a subject as a number; -1 if it is not one. */
export function lastNumber(subject: string): number {
  const word = subject.slice(subject.lastIndexOf(".") + 1);
  return /^[0-9]{1,9}$/.test(word) ? Number(word) : -1;
}
