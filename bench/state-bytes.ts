/**
 * What is added for good to a node and to its replica, by "What is in memory" in docs/ARCHITECTURE.md: the id of an accepted event, the
 * hash of what it says, and the time of a turn. Where all players, and all pairs of one and a peer, are there before the load, nothing else is.
 */
export const bytesPerEvent = 2 * (24 + 6);
export const bytesPerCommit = 2 * 16;
