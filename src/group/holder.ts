/**
 * Declares the holder of a bounded resource: the number of the peer whose key was sent, or else the address of the
 * caller. Every bound that callers share is counted by holder.
 */
export type Holder = number | string;
