/** The profile of a simulated group: its size, its rules, and bounds that are low enough to be reached. */
import { limits } from '../../src/limits.js';
import type { Random } from '../support/random.js';
import type { HalfLives, Rules } from './oracle.js';

export interface Profile {
  readonly players: number;
  readonly peersAtFirst: number;
  /** Half-lives of claims and of measures; the first is the one to start with. */
  readonly halfLives: readonly number[];
  readonly banHalfLives: readonly number[];
  readonly erasureMode: 'peer' | 'own' | 'operator';
  readonly erasureQuotaPerDay: number;
  readonly peersMax: number;
  readonly snapshotEvery: number;
  readonly weightsIntervalMs: number;
  /** Events of one request, at most. */
  readonly batchMax: number;
  /** True if events expire. */
  readonly retires: boolean;
  /** The longest wait in one step. */
  readonly longWaitMs: number;
  /** Bounds of the service, lowered, so that a few operations meet them. */
  readonly bounds: Partial<Record<keyof typeof limits, number>>;
}

const dayMs = 86_400_000;
/** Bounds of the service. They are not imported from it: the oracle states them itself. */
const epochHalfLives = 256;

export function drawProfile(random: Random, seed: number): Profile {
  const isSmall = random.below(3) === 0;
  // In half of the groups the half-lives stay, and are the default of a node or longer: there no read is beyond the
  // range of a double.
  const isSteady = seed % 2 === 0;
  const halfLives = isSteady ? [random.pick([30, 60, 0])] : [random.pick([30, 7, 1, 0]), 0, 1, 7, 30, 3_650];
  const banHalfLives = isSteady ? [random.pick([180, 60, 0])] : [random.pick([180, 7, 0]), 0, 2, 30, 180];
  return {
    players: random.pick([3, 6, 20, 60, 200]),
    peersAtFirst: random.pick([2, 3, 6, 12]),
    halfLives,
    banHalfLives,
    erasureMode: random.pick(['peer', 'own', 'operator']),
    erasureQuotaPerDay: random.pick([1, 3, 100]),
    peersMax: random.pick([4, 6, 12, 70]),
    snapshotEvery: random.pick([20, 60, 250, 1_000]),
    weightsIntervalMs: random.pick([50, 2_000, 60_000]),
    batchMax: random.pick([2, 5, 12]),
    retires: random.below(2) === 0,
    longWaitMs: random.pick([3_600_000, dayMs, 10 * dayMs]),
    bounds: {
      mailboxEvents: random.pick([16, 40, 4_000]),
      turnEvents: random.pick([12, 30, 4_096]),
      redactionPieceRecords: random.pick([2, 5, 40]),
      redactionPieceBatches: random.pick([1, 2, 10]),
      redactionWithdrawals: random.pick([1, 3, 40]),
      redactionErasures: random.pick([1, 2, 40]),
      catchUpBatches: random.pick([1, 7, 512]),
      snapshotBlockBytes: random.pick([64, 300, 65_536]),
      summaryEventsMax: random.pick([5, 30, 1_000]),
      epochHalfLivesMax: random.pick([3, 40, epochHalfLives]),
      readerCacheBatches: random.pick([1, 3, 32]),
      disputesRejectedMax: 2,
      ...(isSmall ? { eventIdsMax: 300, subjectsMax: 10 } : {}),
    },
  };
}

export function halfLivesAtFirst({ halfLives, banHalfLives }: Profile): HalfLives {
  return { claims: halfLives[0]!, measures: banHalfLives[0]! };
}

/** The part of a profile that the oracle needs. */
export function rulesOf({ peersMax, erasureQuotaPerDay, erasureMode, bounds }: Profile): Rules {
  const { eventIdsMax = Number.POSITIVE_INFINITY, subjectsMax = Number.POSITIVE_INFINITY } = bounds;
  const { epochHalfLivesMax = epochHalfLives, summaryEventsMax = 1_000, disputesRejectedMax = 10_000 } = bounds;
  const lowered = { eventIdsMax, subjectsMax, epochHalfLivesMax, summaryEventsMax, disputesRejectedMax };
  return { peersMax, erasureQuotaPerDay, erasureMode, ...lowered };
}

/** Lowers the bounds while `act` runs. */
export async function withBounds<R>(bounds: Profile['bounds'], act: () => Promise<R>): Promise<R> {
  const before = { ...limits };
  Object.assign(limits, bounds);
  try {
    return await act();
  } finally {
    Object.assign(limits, before);
  }
}
