/** The service Scoring around a handler that decides which requests are allowed. */
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
import { toHandlers } from "./handlers.ts";

export interface ScoringHandler {
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

export function scoringRoutes(handler: ScoringHandler): (router: ConnectRouter) => void {
  const handlers = toHandlers(Scoring, {
    score: (request, context) => handler.score(request, callerOf(context)),
    maskOpen: (request, context) => handler.maskOpen(request, callerOf(context)),
    maskStep: (request, context) => handler.maskStep(request, callerOf(context)),
    tags: (request, context) => handler.tags(request, callerOf(context)),
    contributions: (request, context) => handler.contributions(request, callerOf(context)),
  });
  return (router) => void router.service(Scoring, handlers);
}
