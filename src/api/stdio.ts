/**
 * The library over standard input and output, for programs in other languages: a request is one line of JSON, answers
 * are lines of JSON with its `id` (docs/python.md). The process ends when its standard input does, and whatever it was
 * doing ends with it.
 */
import { createInterface } from "node:readline";
import { TandemError } from "../base/error.ts";
import { calls, type CallContext } from "./stdio-calls.ts";

interface Request {
  readonly id: number;
  readonly call: string;
  readonly [parameter: string]: unknown;
}

const running = new Map<number, AbortController>();

function answer(id: number, content: Readonly<Record<string, unknown>>): void {
  process.stdout.write(`${JSON.stringify({ id, ...content })}\n`);
}

async function serve({ id, call, ...parameters }: Request): Promise<void> {
  const controller = new AbortController();
  const context: CallContext = {
    signal: controller.signal,
    onProgress: (progress) => answer(id, { progress }),
  };
  running.set(id, controller);
  try {
    if (!Object.hasOwn(calls, call)) throw new TandemError("USAGE", `unknown call '${call}'`);
    answer(id, { result: (await calls[call](parameters, context)) ?? null });
  } catch (error) {
    answer(id, { error: controller.signal.aborted ? { code: "CANCELLED", message: "cancelled" } : facts(error) });
  } finally {
    running.delete(id);
  }
}

/** As the command reports errors: code and message, without a stack. */
function facts(error: unknown): { readonly code: string; readonly message: string } {
  if (error instanceof TandemError) return { code: error.code, message: error.message };
  return { code: "INTERNAL", message: error instanceof Error ? error.message : String(error) };
}

function requestIn(line: string): Request | null {
  try {
    const request: unknown = JSON.parse(line);
    const isObject = typeof request === "object" && request !== null && "id" in request && "call" in request;
    if (isObject && Number.isSafeInteger(request.id) && typeof request.call === "string")
      return request as unknown as Request;
  } catch {
    // Refused below.
  }
  return null;
}

createInterface({ input: process.stdin, crlfDelay: Infinity })
  .on("line", (line) => {
    const request = requestIn(line);
    if (request === null) return answer(-1, { error: { code: "USAGE", message: "a line is not a request" } });
    if (request.call === "cancel") return running.get(Number(request["request"]))?.abort();
    void serve(request);
  })
  .on("close", () => {
    for (const controller of running.values()) controller.abort();
    // Parties of a simulation end with this process. What is aborted has a moment to end in order.
    setTimeout(() => process.exit(0), 2000).unref();
  });
