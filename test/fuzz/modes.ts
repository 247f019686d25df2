/** The settings under which the face is fuzzed, and the share of the requests that each gets. */
export interface Mode {
  readonly name: string;
  readonly share: number;
  readonly env: Readonly<Record<string, string>>;
}

export const modes: readonly Mode[] = [
  { name: 'keys', share: 0.7, env: {} },
  { name: 'no keys', share: 0.15, env: { PEER_AUTH_ENABLED: 'false' } },
  { name: 'high security', share: 0.15, env: { IDENTITY_MODE: 'high-security', LOG_LEVEL: 'trace' } },
];
