/** The handler context of a call in a shared stream: it has no headers and no deadline. */
import type { DescMethod, DescService } from "@bufbuild/protobuf";
import type { ContextValues, HandlerContext } from "@connectrpc/connect";

export class CallContext implements HandlerContext {
  readonly method: DescMethod;
  readonly url: string;
  readonly values: ContextValues;
  readonly requestMethod = "POST";
  readonly protocolName = "calls";
  /** Created when first used. */
  #ending: AbortController | null = null;
  #aborted: { readonly reason: unknown } | null = null;

  constructor(method: DescMethod, url: string, values: ContextValues) {
    this.method = method;
    this.url = url;
    this.values = values;
  }

  get service(): DescService {
    return this.method.parent;
  }

  get isAborted(): boolean {
    return this.#aborted !== null;
  }

  get signal(): AbortSignal {
    this.#ending ??= new AbortController();
    if (this.#aborted !== null) this.#ending.abort(this.#aborted.reason);
    return this.#ending.signal;
  }

  abort(reason: unknown): void {
    this.#aborted = { reason };
    this.#ending?.abort(reason);
  }

  timeoutMs(): undefined {
    return undefined;
  }

  get requestHeader(): Headers {
    return new Headers();
  }

  get responseHeader(): Headers {
    return new Headers();
  }

  get responseTrailer(): Headers {
    return new Headers();
  }
}
