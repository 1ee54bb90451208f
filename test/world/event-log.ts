/** Events of parties in this process, and waiting for them. */
import type { PartyEvent } from "../../src/record/events.ts";

type EventOf<T extends PartyEvent["type"]> = Extract<PartyEvent, { type: T }>;

export class EventLog {
  readonly events: PartyEvent[] = [];
  readonly #waiting = new Set<() => void>();

  readonly emit = (event: PartyEvent): void => {
    this.events.push(event);
    for (const look of this.#waiting) look();
  };

  /** The event of this type with this number, from 1 on; of one party, or of any. */
  seen<T extends PartyEvent["type"]>(type: T, { count = 1, party = "" } = {}): Promise<EventOf<T>> {
    return new Promise((resolve) => {
      const look = (): void => {
        const matching = this.events.filter(
          (event): event is EventOf<T> => event.type === type && (party === "" || event.party === party),
        );
        if (matching.length < count) return;
        this.#waiting.delete(look);
        resolve(matching[count - 1]);
      };
      this.#waiting.add(look);
      look();
    });
  }
}
