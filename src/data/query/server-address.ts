/**
 * The connection string of a database server, such as postgres://user:password@host/database. It contains a password,
 * so no part of it is ever in a message.
 */
import { TandemError } from "../../base/error.ts";
import { readSecretFile } from "../../base/files/secret-file.ts";

/** Where the connection string stands. */
export interface AddressSource {
  readonly url_file: string;
  /** The file may be readable by other users of this machine. */
  readonly insecureFiles?: boolean | undefined;
}

export interface ServerAddress {
  /** It begins with a slash if it is the path of a Unix socket: see AddressForm. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  /** Empty: there is none. */
  readonly password: string;
}

/** What the connection strings of one kind of server look like. */
interface AddressForm {
  readonly protocol: RegExp;
  readonly example: string;
  readonly port: number;
  /** The one parameter after '?', which takes the place of the host, and what it names. */
  readonly socket: { readonly parameter: string; readonly names: string };
  /** Common parameters, which may be shown. Others may be a part of a password that was not escaped. */
  readonly shown: readonly string[];
}

export const postgresForm: AddressForm = {
  protocol: /^postgres(?:ql)?:$/,
  example: "postgres://user:password@host:5432/database",
  port: 5432,
  socket: { parameter: "host", names: "the folder of a socket" },
  shown: ["sslmode", "ssl", "sslrootcert", "sslcert", "sslkey", "connect_timeout", "options"],
};

export const mysqlForm: AddressForm = {
  protocol: /^(?:mysql|mariadb):$/,
  example: "mysql://user:password@host:3306/database",
  port: 3306,
  socket: { parameter: "socket", names: "the path of a socket" },
  shown: ["ssl", "sslmode", "ssl-mode", "ssl-ca", "charset", "timezone", "connectTimeout"],
};

/** @throws TandemError FILE_UNREADABLE, or FILE_FORMAT saying what is wrong with it */
export async function readAddress(
  { url_file: path, insecureFiles }: AddressSource,
  form: AddressForm,
): Promise<ServerAddress> {
  return parseAddress(path, await addressIn(path, insecureFiles), form);
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

/** @param title where it stands, for messages. @throws TandemError FILE_FORMAT */
export function parseAddress(title: string, text: string, form: AddressForm): ServerAddress {
  const { protocol, example, port, socket, shown } = form;
  const url = parsed(text.trim());
  if (url === null || !protocol.test(url.protocol))
    throw wrong(title, `is not a connection string of the form ${example}`);
  const other = [...url.searchParams.keys()].find((name) => name !== socket.parameter);
  if (other !== undefined) {
    const which = shown.includes(other) ? `the parameter '${other}'` : "a parameter after '?'";
    throw wrong(title, `has ${which}. Of those only ${socket.parameter}, ${socket.names}, is taken here`);
  }
  const [user, password, database] = [url.username, url.password, url.pathname.slice(1)].map(decoded);
  const host = url.searchParams.get(socket.parameter) ?? decoded(url.hostname.replaceAll(/^\[|\]$/g, ""));
  if (user === null || password === null || database === null || host === null)
    throw wrong(title, "has a '%' that is no part of an escaped character such as %25");
  if (user === "" || host === "" || database === "") throw wrong(title, "names no user, no host or no database");
  return { host, port: url.port === "" ? port : Number(url.port), user, database, password };
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
