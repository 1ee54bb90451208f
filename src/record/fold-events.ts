/**
 * Folds the public events of a job into its view, one by one. The same events always give the same view: on a page
 * reloaded during the job, and in a report made years later.
 *
 * Events may be missing, in a record of an older version or of a stopped job. Their fields then stay empty.
 *
 * Runs in browsers too.
 */
import { type StampedEvent, eventUses } from "./events.ts";
import { emptyJobView, type JobView } from "./job-view.ts";
import { withRoundEvent } from "./redone-rounds.ts";

export function jobView(events: readonly StampedEvent[]): JobView {
  const view = emptyJobView();
  for (const event of events) addEvent(view, event);
  return view;
}

/** Adds one event to a view. Events of unknown kinds change only the time. */
export function addEvent(view: JobView, event: StampedEvent): void {
  if (view.startedAt === 0) view.startedAt = event.at;
  view.lastAt = event.at;
  if (view.party === "") view.party = event.party;
  view.roundsSoFar = withRoundEvent(view.roundsSoFar, event);
  eventUses(event.type)?.fold?.(view, event);
}
