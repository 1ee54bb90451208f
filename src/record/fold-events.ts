/**
 * Folds the public events of a job into its view, one by one. The same events always give the same view: on a page that
 * is loaded again in the middle, and in a report that is made years later.
 *
 * Events may be missing, in a job of an older version or one that was stopped. Their fields then stay empty.
 *
 * Runs in browsers too: nothing of Node is used here.
 */
import { type StampedEvent, usesOf } from "./events.ts";
import { emptyJobView, type JobView } from "./job-view.ts";
import { withRoundEvent } from "./redone-rounds.ts";

export function jobView(events: readonly StampedEvent[]): JobView {
  const view = emptyJobView();
  for (const event of events) addEvent(view, event);
  return view;
}

/** Takes one more event into a view. Events of kinds that this version does not know change nothing but the time. */
export function addEvent(view: JobView, event: StampedEvent): void {
  if (view.startedAt === 0) view.startedAt = event.at;
  view.lastAt = event.at;
  if (view.party === "") view.party = event.party;
  view.roundsSoFar = withRoundEvent(view.roundsSoFar, event);
  usesOf(event.type)?.fold?.(view, event);
}
