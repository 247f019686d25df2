/** The source of randomness, so that a simulation can own it. */

export interface Entropy {
  bytes(count: number): Uint8Array;
  uuid(): string;
}
