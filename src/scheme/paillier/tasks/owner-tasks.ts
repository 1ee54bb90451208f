/** The active party's tasks: opened anew for each attempt, with its private key in the terms. */
import { TandemError } from "../../../base/error.ts";
import { serialisePrivateKey } from "../../../crypto/paillier/key-format.ts";
import type { PrivateEvaluator } from "../../../crypto/paillier/kernel.ts";
import { PaillierTaskTermsSchema } from "../../../wire/generated/tandem/v1/tasks_pb.ts";
import { encodeMessage } from "../../../wire/scheme-message.ts";
import type { OpenTasks, TaskCrew } from "../../tasks/tasks.ts";
import { paillierSchemeName } from "../scheme-name.ts";
import { TaskPrivateEvaluator } from "./task-private.ts";

export class OwnerTasks {
  /** The same in all attempts. */
  readonly evaluator: PrivateEvaluator;
  readonly #crew: TaskCrew;
  readonly #own: PrivateEvaluator;
  #open: OpenTasks | null = null;

  constructor(crew: TaskCrew, own: PrivateEvaluator) {
    this.#crew = crew;
    this.#own = own;
    this.evaluator = new TaskPrivateEvaluator(own, () => {
      if (this.#open === null) throw new TandemError("PROTOCOL_STATE", "the scheme is not set up");
      return this.#open;
    });
  }

  async open(): Promise<void> {
    this.close();
    const { key } = this.#own;
    const terms = encodeMessage(PaillierTaskTermsSchema, {
      key: { case: "privateKey", value: serialisePrivateKey(key) },
      keyBits: key.publicKey.bits,
    });
    this.#open = await this.#crew.openTasks({ scheme: paillierSchemeName, terms });
  }

  close(): void {
    this.#open?.close().catch(() => {}); // not awaited: the next attempt deletes what is left
    this.#open = null;
  }
}
