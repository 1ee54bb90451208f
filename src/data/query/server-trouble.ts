/** What may be logged about a connection to a database server that failed, whichever server it is. */

/** Of several addresses of a host that none could be reached: the first. */
export function codeAndMessage(error: unknown): { readonly code: string; readonly message: string } {
  const first = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  if (!(first instanceof Error)) return { code: "", message: "" };
  return { code: "code" in first ? String(first.code) : "", message: first.message };
}

/** Null: it is about something else. */
export function connectionWords(code: string, message: string): string | null {
  if (/CERT|SELF_SIGNED|ALTNAME|UNABLE_TO_VERIFY/.test(code))
    return `the server's certificate is not trusted (${code}). 'authority' names the one that has signed it`;
  if (/^(?:E[A-Z]+|EAI_[A-Z]+)$/.test(code) && code !== "ERROR")
    return `the server cannot be reached, or was lost (${code})`;
  if (/timeout|timed out/i.test(message)) return "the server does not answer";
  if (/terminated|ended|closed/i.test(message)) return "the connection to the server was lost";
  return null;
}
