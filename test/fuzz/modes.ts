/** The settings under which the face is fuzzed, each with its part of the requests. */
export interface Mode {
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
}

export const modes: readonly Mode[] = [
  { name: 'keys', env: {} },
  { name: 'no keys', env: { PEER_AUTH_ENABLED: 'false' } },
  // Every peer has a public key, and no request a signature by it.
  { name: 'signatures', env: { REQUEST_SIGNING: 'required' } },
  { name: 'high security', env: { IDENTITY_MODE: 'high-security', LOG_LEVEL: 'trace' } },
];
