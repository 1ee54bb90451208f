/**
 * The connection string of a PostgreSQL server, postgres://user:password@host/database. It contains a password, so no
 * part of it is ever in a message.
 */
import { TandemError } from "../../base/error.ts";
import { readSecretFile } from "../../base/files/secret-file.ts";

/** Where the connection string stands. */
export interface AddressSource {
  readonly url_file: string;
  /** The file may be readable by other users of this machine. */
  readonly insecureFiles?: boolean | undefined;
}

export interface PostgresAddress {
  /** A folder if it begins with a slash: that of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  /** Empty: there is none. */
  readonly password: string;
}

/** @throws TandemError FILE_UNREADABLE, or FILE_FORMAT saying what is wrong with it */
export async function readAddress({ url_file: path, insecureFiles }: AddressSource): Promise<PostgresAddress> {
  return parseAddress(path, await addressIn(path, insecureFiles));
}

async function addressIn(path: string, insecure: boolean | undefined): Promise<string> {
  try {
    return await readSecretFile(path, { insecure });
  } catch (cause) {
    if (cause instanceof TandemError) throw cause;
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    throw new TandemError("FILE_UNREADABLE", `${path} cannot be read (${code})`);
  }
}

/** Common parameters, which may be shown. Others may be a part of a password that was not escaped. */
const shownParameters = new Set(["sslmode", "ssl", "sslrootcert", "sslcert", "sslkey", "connect_timeout", "options"]);

/** @param title where it stands, for messages. @throws TandemError FILE_FORMAT */
export function parseAddress(title: string, text: string): PostgresAddress {
  const url = parsed(text.trim());
  if (url === null || !/^postgres(?:ql)?:$/.test(url.protocol))
    throw wrong(title, "is not a connection string of the form postgres://user:password@host:5432/database");
  const other = [...url.searchParams.keys()].find((name) => name !== "host");
  if (other !== undefined) {
    const which = shownParameters.has(other) ? `the parameter '${other}'` : "a parameter after '?'";
    throw wrong(title, `has ${which}. Of those only host, the folder of a socket, is taken here`);
  }
  const [user, password, database] = [url.username, url.password, url.pathname.slice(1)].map(decoded);
  const host = url.searchParams.get("host") ?? decoded(url.hostname.replaceAll(/^\[|\]$/g, ""));
  if (user === null || password === null || database === null || host === null)
    throw wrong(title, "has a '%' that is no part of an escaped character such as %25");
  if (user === "" || host === "" || database === "") throw wrong(title, "names no user, no host or no database");
  return { host, port: url.port === "" ? 5432 : Number(url.port), user, database, password };
}

function parsed(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function wrong(title: string, what: string): TandemError {
  return new TandemError("FILE_FORMAT", `${title} ${what}`);
}
