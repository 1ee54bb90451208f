/** The parties of a simulation in the test's own process: the same configs, folders and TLS, without three starts. */
import { readFile } from "node:fs/promises";
import { TandemError } from "../../src/base/error.ts";
import type { Supervise } from "../../src/simulate/supervisor.ts";
import { runActive } from "../../src/party/active/run.ts";
import { readActiveConfig, readPassiveConfig } from "../../src/party/config/config.ts";
import type { Experiment } from "../../src/party/experiment.ts";
import { runPassive } from "../../src/party/passive/run.ts";
import type { PartyEvent } from "../../src/record/events.ts";
import { EventLog } from "./event-log.ts";

/** A party that fails ends the others. */
export const superviseInProcess: Supervise = (onEvent) => {
  const stopping = new AbortController();
  const log = new EventLog();
  const running: Promise<void>[] = [];
  const emit = (event: PartyEvent): void => {
    onEvent(event);
    log.emit(event);
  };
  const failed = new Promise<never>((_, reject) =>
    stopping.signal.addEventListener("abort", () => reject(stopping.signal.reason), { once: true }),
  );
  failed.catch(() => {}); // waitFor and finished report it
  return {
    start(name, role, files) {
      const run = async (): Promise<void> => {
        const experiment = JSON.parse(await readFile(files.experiment, "utf8")) as Experiment;
        if (role === "train") return runActive(await readActiveConfig(files.config, () => name, experiment), emit);
        return runPassive(await readPassiveConfig(files.config, experiment), emit, {
          stop: stopping.signal,
          once: true,
        });
      };
      running.push(
        run().catch((error: unknown) => {
          stopping.abort(error);
          throw error;
        }),
      );
    },
    stop: () => stopping.abort(new TandemError("PARTY_LOST", "the parties were stopped")),
    waitFor: (party, type) => Promise.race([log.seen(type, { party }), failed]),
    finished: async () => void (await Promise.all(running)),
  };
};
