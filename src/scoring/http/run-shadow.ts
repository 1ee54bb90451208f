/** The shadow of a server: its model, and the file of scores. */
import { JsonLinesFile } from "../../base/files/json-lines.ts";
import { osRandom } from "../../base/random.ts";
import type { ActiveConfig } from "../../party/config/config.ts";
import { ModelSlot, type SlotOptions } from "./model-slot.ts";
import { Shadow } from "./shadow.ts";

export interface ShadowSettings {
  /** A job's name, a model of the registry, or a job's folder. */
  readonly model: string;
  /** The share of requests, above 0 and up to 1. */
  readonly share: number;
  /** The file of scores. */
  readonly output: string;
}

export interface RunningShadow {
  readonly slot: ModelSlot;
  readonly shadow: Shadow;
  close(): void;
}

const fileBytesMax = 1 << 30;

/** @throws TandemError MODEL_UNKNOWN, FILE_UNWRITABLE */
export async function openShadow(
  config: ActiveConfig,
  { model, share, output }: ShadowSettings,
  options: SlotOptions,
): Promise<RunningShadow> {
  const file = new JsonLinesFile(output, fileBytesMax);
  // One batch at a time: what the shadow asks for must not keep the parties from answering others.
  const parameters = { ...options.parameters, batches: 1 };
  const slot = await ModelSlot.open(config, model, { ...options, parameters }, "shadow:");
  const shadow = new Shadow({
    share,
    random: osRandom,
    answer: async (body) => {
      const { current } = slot;
      return { job: current.share.job, response: await current.answer(body) };
    },
    write: (line) => file.append(line),
    onLost: (reason) => options.metrics.shadowLosses.add({ reason }),
    onTrouble: options.complain,
    now: Date.now,
  });
  return {
    slot,
    shadow,
    close: () => {
      shadow.close();
      file.close();
    },
  };
}
