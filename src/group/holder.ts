/**
 * Whose room something takes: the number of the peer whose key was sent, else the address that it came from. Every
 * bound that callers share is shared by holder.
 */
export type Holder = number | string;
