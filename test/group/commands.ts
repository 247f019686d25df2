/** Commands to the actor of a small group, and what it answers. */
import type { EventSubmission } from '../../src/core/commands.js';
import type { Outcome } from '../../src/errors.js';
import type { Command } from '../../src/group/actor-commands.js';
import { subjectOf } from '../support/given.js';

export function register(i: number): Command {
  return { type: 'register', peerId: `peer-${i}`, peerName: 'P', gameIds: ['g1'], keyDigest: `key-${i}`, by: 't' };
}

export const submit = (...events: readonly EventSubmission[]): Command => ({ type: 'submit', caller: null, events });

export function erase(player: string, caller = -2): Command {
  return { type: 'erase', caller, subject: subjectOf(player), commitment: 'c', by: 't' };
}

/** The code of an outcome; `ok` if it was granted. */
export function codeOf(answer: unknown): string {
  const outcome = answer as Outcome<unknown>;
  return outcome.ok ? 'ok' : outcome.code;
}

/** The codes of the outcomes of a submission. */
export const codesOf = (answer: unknown): string[] => (answer as readonly unknown[]).map(codeOf);
