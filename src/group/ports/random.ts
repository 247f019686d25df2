/** The source of randomness, so that a simulation can own it. */

export interface RandomSource {
  bytes(count: number): Uint8Array;
  uuid(): string;
}
