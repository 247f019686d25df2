/** Creates the refusals for commands that a group cannot accept at present. */
import { errors, type Refusal, refused } from '../errors.js';
import { limits } from '../limits.js';

/** For a group that admits nothing: it is not open yet, or no longer. */
export function notThere(): Refusal {
  return refused('dependency_unavailable');
}

export function overloaded(): Refusal {
  return refused('overloaded');
}

export function clockAhead(isOneOfSeveral = false): Refusal {
  const text = 'the clock of this node jumped ahead: reads are answered, writes are refused';
  return unfit('clock_ahead', text, isOneOfSeveral);
}

export function diskLow(isOneOfSeveral = false): Refusal {
  const text = 'the disk of this node is nearly full: reads are answered, writes are refused';
  return unfit('disk_low', text, isOneOfSeveral);
}

/** `isOneOfSeveral`: another node leads soon, because this one no longer may. */
function unfit(reason: string, text: string, isOneOfSeveral: boolean): Refusal {
  const retryAfterS = isOneOfSeveral ? limits.noLeaderRetryAfterS : limits.diskRetryAfterS;
  return refused('dependency_unavailable', { text, details: { reason }, retryAfterS });
}

/** For a leader whose shared log would soon exceed the quota of its database, at which it looks every 2 s. */
export function logFull(): Refusal {
  const text = "the replicated log is nearly full, by etcd's quota: reads are answered, writes are refused";
  const details = { reason: 'log_full' };
  return refused('dependency_unavailable', { text, details, retryAfterS: limits.noLeaderRetryAfterS });
}

export function noLeader(): Refusal {
  return refused('no_leader', { retryAfterS: limits.noLeaderRetryAfterS });
}

/** For a leader that cannot reach the shared log. `isUnknown`: the command may be recorded nevertheless. */
export function logUnreachable(isUnknown = false): Refusal {
  const text = isUnknown
    ? 'the replicated log did not answer in time; the command may have been recorded'
    : 'the replicated log does not answer: reads are answered, writes are refused';
  const details = { reason: 'log_unreachable', ...(isUnknown ? ({ recorded: true } as const) : {}) };
  return refused('dependency_unavailable', { text, details, retryAfterS: limits.noLeaderRetryAfterS });
}

/** Returns the seconds of `Retry-After`; undefined if the status (other than 429 and 503) does not have the header. */
export function retryAfterOf({ code, retryAfterS }: Refusal): number | undefined {
  const { status } = errors[code];
  return status === 429 || status === 503 ? (retryAfterS ?? limits.retryAfterS) : undefined;
}
