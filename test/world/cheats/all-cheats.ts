/** Every named misbehaviour. The numbers are those of docs/hostile.md. */
import { activeCheats } from "./active-cheats.ts";
import { askingCheats } from "./asking-cheats.ts";
import type { Cheat } from "./cheat.ts";
import { defenceCheats } from "./defence-cheats.ts";
import { outsideCheats } from "./outside-cheats.ts";
import { passiveCheats } from "./passive-cheats.ts";

export const allCheats: readonly Cheat[] = [
  ...activeCheats,
  ...defenceCheats,
  ...passiveCheats,
  ...askingCheats,
  ...outsideCheats,
];
