/** Declares constants of the plan of an import. */

export const DAY_MS = 86_400_000;

/** Entries whose weight has decayed below this are sent only on request. */
export const WEIGHT_MIN = 0.01;

/** The default half-life of reports in a group. */
export const HALF_LIFE_DAYS = 30;

/** The default half-life of bans in a group. */
export const BAN_HALF_LIFE_DAYS = 180;
