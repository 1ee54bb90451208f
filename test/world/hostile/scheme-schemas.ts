/**
 * The scheme-specific messages in the fields `scheme`, which are opaque bytes to the protocol: mutated as messages too.
 */
import type { DescMessage } from "@bufbuild/protobuf";
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
  ActiveSetUp: [PaillierSetUpSchema, LatticeSetUpSchema],
  ActiveGradients: [PaillierGradientsSchema],
  ActiveNode: [LatticeNodeSchema],
  PassiveHints: [LatticeHintsSchema],
  PassiveHistograms: [PaillierSumsSchema, LatticeSumsSchema],
  ActiveMaskOpen: [TransferOpenSchema],
  PassiveMaskOpened: [TransferKeysSchema],
  ActiveMaskStep: [TransferIntroductionSchema, TransferChoicesSchema, TransferCorrectionsSchema],
  PassiveMaskStep: [TransferChoicesSchema, TransferMatricesSchema, TransferSumsSchema],
};

/** @returns what the bytes of this field may be a message of; none: nothing that is known */
export function schemasWithin(around: DescMessage, field: string): readonly DescMessage[] {
  return field === "scheme" ? (schemas[around.name] ?? []) : [];
}
