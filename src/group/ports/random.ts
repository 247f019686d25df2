/** Declares the random source as a port, so that a simulation can control it. */

export interface RandomSource {
  bytes(count: number): Uint8Array;
  uuid(): string;
}
