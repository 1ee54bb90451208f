/** What tests of tables from database servers share: configs of queries, and refusals without a secret. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { TandemError } from "../../src/base/error.ts";
import type { TableSource } from "../../src/data/sources/registry.ts";
import type { CsvTable } from "../../src/data/table-sink.ts";
import { readTable } from "../../src/data/table-source.ts";
import { scratchDirectory } from "./command.ts";
import { expectError } from "./expect-error.ts";

interface Server {
  readonly folder: string;
  url(secret?: string | null, database?: string): string;
}

type Refused = (read: () => Promise<unknown>, code: TandemError["code"], says: RegExp) => Promise<void>;

export class ServerQueries<S extends object> {
  readonly #folder = scratchDirectory();
  readonly #kind: "postgres" | "mysql";
  readonly #server: () => Server;
  readonly #password: string;
  #count = 0;
  #file: string | null = null;

  constructor(kind: "postgres" | "mysql", server: () => Server, password: string) {
    this.#kind = kind;
    this.#server = server;
    this.#password = password;
  }

  secretFile(text: string, mode = 0o600): string {
    const path = join(this.#folder, `url-${this.#count++}`);
    writeFileSync(path, `${text}\n`, { mode });
    return path;
  }

  /** A good connection string's file. */
  get file(): string {
    return (this.#file ??= this.secretFile(this.#server().url()));
  }

  source(query: string, changed: Partial<S> = {}): S {
    const authority = join(this.#server().folder, "authority.pem");
    return { url_file: this.file, tls: "verify", timeout_seconds: 60, authority, query, ...changed } as unknown as S;
  }

  read(query: string, changed: Partial<S> = {}): Promise<CsvTable> {
    return readTable({ [this.#kind]: this.source(query, changed) } as unknown as TableSource);
  }

  reading(query: string, changed: Partial<S> = {}): () => Promise<CsvTable> {
    return () => this.read(query, changed);
  }

  readonly expectRefused: Refused = (read, code, says) => expectNoSecret(this.#password, read, code, says);
}

/** Whatever a message says, it is no secret. */
async function expectNoSecret(password: string, ...[read, code, says]: Parameters<Refused>): Promise<void> {
  const { message, cause, stack = "" } = await expectError(read, code, says);
  expect(cause).toBeUndefined();
  for (const text of [message, stack])
    for (const secret of [password, encodeURIComponent(password), "wrong-guess"]) expect(text).not.toContain(secret);
}
