/** The service Scoring around a desk that decides which requests are allowed. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import {
  type ActiveContributions,
  type ActiveScoring,
  type ActiveTags,
  type PassiveContributionsSchema,
  type PassiveOutcomesSchema,
  type PassiveTagsSchema,
  Scoring,
} from "../wire/generated/tandem/v1/scoring_pb.ts";
import type {
  ActiveMaskOpen,
  ActiveMaskStep,
  PassiveMaskOpenedSchema,
  PassiveMaskStepSchema,
} from "../wire/generated/tandem/v1/masked_pb.ts";
import { type Caller, callerOf } from "./caller.ts";
import { handlersOf } from "./handlers.ts";

export interface ScoringDesk {
  /** @throws TandemError if the request is refused */
  score(request: ActiveScoring, caller: Caller): Promise<MessageInitShape<typeof PassiveOutcomesSchema>>;
  maskOpen(request: ActiveMaskOpen, caller: Caller): Promise<MessageInitShape<typeof PassiveMaskOpenedSchema>>;
  maskStep(request: ActiveMaskStep, caller: Caller): Promise<MessageInitShape<typeof PassiveMaskStepSchema>>;
  tags(request: ActiveTags, caller: Caller): Promise<MessageInitShape<typeof PassiveTagsSchema>>;
  contributions(
    request: ActiveContributions,
    caller: Caller,
  ): Promise<MessageInitShape<typeof PassiveContributionsSchema>>;
}

export function scoringRoutes(desk: ScoringDesk): (router: ConnectRouter) => void {
  const handlers = handlersOf(Scoring, {
    score: (request, context) => desk.score(request, callerOf(context)),
    maskOpen: (request, context) => desk.maskOpen(request, callerOf(context)),
    maskStep: (request, context) => desk.maskStep(request, callerOf(context)),
    tags: (request, context) => desk.tags(request, callerOf(context)),
    contributions: (request, context) => desk.contributions(request, callerOf(context)),
  });
  return (router) => void router.service(Scoring, handlers);
}
