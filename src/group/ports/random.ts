/** The random source, a port so that a simulation can control it. */
export interface RandomSource {
  bytes(count: number): Uint8Array;
  uuid(): string;
}
