/**
 * Lookups over one connection to a database server, which is opened when it is needed and again after it was lost. One
 * lookup is under way at a time; the others wait for it, within their own time.
 */
import { Exclusive } from "../../base/scheduling/exclusive.ts";
import { TandemError } from "../../base/error.ts";
import { type FeatureLookup, type FoundRows, idsPerQuestion, type LookupRequest, partsOf } from "./lookup.ts";

interface Session {
  close(): Promise<void>;
  destroy(): void;
}

/** What one kind of server does. */
export interface SessionKind<S extends Session> {
  readonly field: string;
  open(): Promise<S>;
  /** For at most `idsPerQuestion` ids. */
  find(session: S, request: LookupRequest): Promise<FoundRows>;
  /** An error as a message that may be logged. */
  trouble(error: unknown): TandemError;
}

export class SessionLookup<S extends Session> implements FeatureLookup {
  readonly field: string;
  readonly #kind: SessionKind<S>;
  readonly #turns = new Exclusive();
  #session: S | null = null;

  constructor(kind: SessionKind<S>) {
    this.field = kind.field;
    this.#kind = kind;
  }

  find(request: LookupRequest, signal: AbortSignal): Promise<FoundRows> {
    return this.#turns.run(async () => {
      const lose = (): void => this.#lose();
      signal.addEventListener("abort", lose, { once: true });
      try {
        if (signal.aborted) throw new Error("closed");
        return await this.#findAgain(request, signal);
      } catch (error) {
        // It may be in the middle of an answer.
        this.#lose();
        throw this.#kind.trouble(error);
      } finally {
        signal.removeEventListener("abort", lose);
      }
    });
  }

  async close(): Promise<void> {
    const session = this.#session;
    this.#session = null;
    await session?.close();
  }

  /** The server may have closed a connection that was idle: then a new one is asked. */
  async #findAgain(request: LookupRequest, signal: AbortSignal): Promise<FoundRows> {
    const isFresh = this.#session === null;
    try {
      return await this.#findAll(request);
    } catch (error) {
      if (isFresh || error instanceof TandemError || signal.aborted) throw error;
      this.#lose();
      return await this.#findAll(request);
    }
  }

  async #findAll({ ids, ...wanted }: LookupRequest): Promise<FoundRows> {
    const session = (this.#session ??= await this.#kind.open());
    let names: readonly string[] = [];
    const rows: FoundRows["rows"][number][] = [];
    for (const part of partsOf(ids, idsPerQuestion)) {
      const found = await this.#kind.find(session, { ids: part, ...wanted });
      names = found.names;
      for (const row of found.rows) rows.push(row);
    }
    return { names, rows };
  }

  #lose(): void {
    this.#session?.destroy();
    this.#session = null;
  }
}
