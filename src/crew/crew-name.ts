/** A crew's name is part of names of streams, subjects, users and Kubernetes objects, which allow few characters. */
export const crewSyntax = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/;

export const crewSyntaxWords = "must be up to 40 small letters, digits and dashes, with no dash at an end";

/** The names in a crew's certificates: the engine's user names, by which party and workers recognise each other. */
export function partyUser(crew: string): string {
  return `${crew}-party`;
}
export function workerUser(crew: string): string {
  return `${crew}-worker`;
}
