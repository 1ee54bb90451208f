/** Prometheus metrics of a relay: numbers, and names of rooms. */
import { Counter, Gauge, metricsText } from "../base/metrics.ts";
import { relayRefusals } from "../transport/pipes/relay-terms.ts";
import type { RelayEvent } from "./relay-options.ts";
import type { Room } from "./room.ts";

export class RelayMetrics {
  readonly #joined = new Counter("tandem_relay_joined_total", "Pairs of connections that were joined.");
  readonly #absent = new Counter("tandem_relay_absent_total", "Active ends that found no passive end.");
  readonly #bytes = new Counter("tandem_relay_bytes_total", "Bytes of pairs that have ended.");
  readonly #refused = new Counter("tandem_relay_refused_total", "Connections that were refused.");
  #rooms: readonly Room[] = [];

  constructor() {
    for (const reason of [...Object.keys(relayRefusals), "handshake"]) this.#refused.add({ reason }, 0);
  }

  /** Of a relay that runs. */
  watch(rooms: readonly Room[]): void {
    this.#rooms = rooms;
    for (const { name: room } of rooms) {
      this.#joined.add({ room }, 0);
      this.#absent.add({ room }, 0);
      for (const to of ["active", "passive"]) this.#bytes.add({ room, to }, 0);
    }
  }

  readonly see = (event: RelayEvent): void => {
    if (event.type === "joined") this.#joined.add({ room: event.room });
    if (event.type === "absent") this.#absent.add({ room: event.room });
    if (event.type === "refused") this.#refused.add({ reason: event.reason });
    if (event.type !== "separated") return;
    this.#bytes.add({ room: event.room, to: "passive" }, event.bytesToPassive);
    this.#bytes.add({ room: event.room, to: "active" }, event.bytesToActive);
  };

  text(): string {
    const sum = (of: (room: Room) => number) => () => this.#rooms.reduce((total, room) => total + of(room), 0);
    return metricsText([
      this.#joined,
      this.#absent,
      this.#bytes,
      this.#refused,
      new Gauge(
        "tandem_relay_pairs",
        "Pairs of connections that are joined.",
        sum(({ pairCount }) => pairCount),
      ),
      new Gauge(
        "tandem_relay_waiting",
        "Connections that wait for the other end.",
        sum(({ waitingCount }) => waitingCount),
      ),
      new Gauge(
        "tandem_relay_held_bytes",
        "Bytes that wait for a slow end.",
        sum(({ heldBytes }) => heldBytes),
      ),
    ]);
  }
}
