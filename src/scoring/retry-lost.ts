/** Retries of questions to a party that is lost: it may restart, or its connection may be replaced. */
import { TandemError } from "../base/error.ts";

const pauseMsMin = 20;
const pauseMsMax = 500;
const attemptMsMin = 200;

/**
 * Retries until there is an answer, an error other than PARTY_LOST, or no time left. Each attempt may take half of the
 * time that is left: a connection that swallows everything must leave time for a new one.
 * @param closing once aborted, nothing is retried
 */
export async function retryLost<T>(
  timeoutMs: number,
  closing: AbortSignal,
  attempt: (timeoutMs: number) => Promise<T>,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (let pauseMs = pauseMsMin; ; pauseMs = Math.min(2 * pauseMs, pauseMsMax)) {
    const leftMs = deadline - performance.now();
    try {
      return await attempt(Math.max(leftMs / 2, Math.min(leftMs, attemptMsMin)));
    } catch (error) {
      const mayHelp = error instanceof TandemError && error.code === "PARTY_LOST";
      if (!mayHelp || closing.aborted || performance.now() + pauseMs >= deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
