/**
 * Switches of active.yaml, without a default, that `tandem train` also takes as options: --compare-alone is
 * `compare_alone: true`. Config, command and help are made from this table; it loads nothing, since the help needs it.
 */
export const activeSwitches = {
  compare_alone: "afterwards train this party's own columns alone, and say what the others' have added",
} as const;

export type ActiveSwitch = keyof typeof activeSwitches;
export const activeSwitchNames = Object.keys(activeSwitches) as readonly ActiveSwitch[];
