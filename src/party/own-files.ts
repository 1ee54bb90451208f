/**
 * Errors in a party's own files are logged in full; the caller receives only that there was one.
 */
import { TandemError } from "../base/error.ts";
import type { Emit } from "../record/events.ts";

export async function withOwnFiles<T>(party: string, emit: Emit, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TandemError) || error.code === "INTERNAL" || error.code === "PARTY_LOST") throw error;
    emit({ type: "error", party, code: error.code, message: error.message });
    throw new TandemError(error.code, `${party} has trouble with its own files. Its log says what`, { cause: error });
  }
}
