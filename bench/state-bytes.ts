/**
 * What is added for good to a node and to its replica, by "What is in memory" in docs/operating/scale.md: the id of an accepted event, and the
 * time of a turn. Where all players, and all pairs of one and a peer, are there before the load, nothing else is.
 */
export const bytesPerEvent = 2 * 24;
export const bytesPerCommit = 2 * 16;
