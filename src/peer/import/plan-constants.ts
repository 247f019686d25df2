/** Constants of the plan of an import. */

export const DAY_MS = 86_400_000;

/** What has faded below this is not sent unless asked. */
export const WEIGHT_MIN = 0.01;

/** The half-life of a group whose operator chose none. */
export const HALF_LIFE_DAYS = 30;
