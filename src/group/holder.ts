/** A holder of a bounded resource: the number of the peer whose key was sent, or else the address of the caller. */
export type Holder = number | string;
