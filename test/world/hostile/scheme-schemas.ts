/**
 * The scheme-specific messages in the fields `scheme`, which are opaque bytes to the protocol: mutated as messages too.
 */
import type { DescMessage } from "@bufbuild/protobuf";
import {
  CurveBasesSchema,
  CurveGradientsSchema,
  CurveSetUpSchema,
  CurveSumsSchema,
} from "../../../src/wire/generated/tandem/v1/curve_pb.ts";
import {
  LatticeHintsSchema,
  LatticeNodeSchema,
  LatticeSetUpSchema,
  LatticeSumsSchema,
} from "../../../src/wire/generated/tandem/v1/lattice_pb.ts";
import {
  TransferChoicesSchema,
  TransferCorrectionsSchema,
  TransferIntroductionSchema,
  TransferKeysSchema,
  TransferMatricesSchema,
  TransferOpenSchema,
  TransferSumsSchema,
} from "../../../src/wire/generated/tandem/v1/masked_pb.ts";
import {
  PaillierGradientsSchema,
  PaillierSetUpSchema,
  PaillierSumsSchema,
} from "../../../src/wire/generated/tandem/v1/paillier_pb.ts";

/** By the name of the message around it. */
const schemas: Readonly<Record<string, readonly DescMessage[]>> = {
  ActiveSetUp: [PaillierSetUpSchema, CurveSetUpSchema, LatticeSetUpSchema],
  ActiveGradients: [PaillierGradientsSchema, CurveGradientsSchema],
  ActiveNode: [LatticeNodeSchema],
  PassiveHints: [LatticeHintsSchema],
  PassiveHistograms: [PaillierSumsSchema, CurveSumsSchema, LatticeSumsSchema],
  ActiveMaskOpen: [TransferOpenSchema],
  PassiveMaskOpened: [TransferKeysSchema],
  ActiveMaskStep: [TransferIntroductionSchema, TransferChoicesSchema, TransferCorrectionsSchema],
  PassiveMaskStep: [TransferChoicesSchema, TransferMatricesSchema, TransferSumsSchema],
};

/** @returns what the bytes of this field may be a message of; none: nothing that is known */
export function schemasWithin(around: DescMessage, field: string): readonly DescMessage[] {
  if (field === "bases") return [CurveBasesSchema];
  return field === "scheme" ? (schemas[around.name] ?? []) : [];
}
