/** Follows a native ban list. Its state changes once the data are stored: a kill loses nothing and repeats nothing. */
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { EventSpool, type Runtime, type SpoolProgress, type TrustClient, TrustError } from '../../client/entry.js';
import { bounds, pause, systemRuntime } from '../../client/for-peer.js';
import type { PeerConfig } from '../config/peer-config.js';
import type { Player } from '../formats/player-of.js';
import { RowMemory } from '../formats/row-memory.js';
import { type EventOptions, eventOf } from '../import/event-of.js';
import { assertDescribed, type DecodedList, listOf } from '../import/list-format.js';
import { type ImportPlan, type ListReading, planOf } from '../import/plan.js';
import { KnownKinds, listOfAccounts } from '../node/known-kinds.js';
import { NodeReader, peerClient } from '../node/node-reader.js';
import { problemLog } from '../node/problem-log.js';
import { PeerError, plainWords, uncountedText, wrongUsage } from '../peer-error.js';
import { ListFile, type ListText, wholeTextOf } from './list-file.js';
import { changesOf, type ListedBan } from './list-sync.js';
import { PolledList, type PolledListOptions } from './polled-list.js';
import { type Mark, WatchState } from './watch-state.js';

export interface WatchOptions extends ListReading, Omit<PolledListOptions, 'elapsedMs'> {
  readonly config: PeerConfig;
  readonly gameId: string;
  readonly log: (line: string) => void;
  /** Treats the bans at the first start as known. */
  readonly newOnly?: boolean;
  readonly allowMassLift?: boolean;
  readonly runtime?: Runtime | undefined;
}

/** Runs until the signal is aborted. Rejects if the list is too large or has no known format (exit code 4). */
export async function watchList(options: WatchOptions): Promise<void> {
  const { config, signal } = options;
  const { url, stateDir } = config;
  const { isPlainFile, label, key } = options.source;
  const path = isPlainFile ? resolve(label) : label;
  if (isPlainFile && !existsSync(path)) options.log(`${path} does not exist: waiting until a program writes it`);
  const plainName = basename(path).replace(/[^\w.-]/g, '_');
  const name = `${plainName.slice(0, 40)}-${key.slice(0, 12)}`;
  const kinds = await KnownKinds.open(config);
  const reader = new NodeReader(url);
  const state = await WatchState.open(join(stateDir, 'watch', `${name}.json`));
  const client = peerClient(config);
  const setProblem = problemLog(options.log, 'works again');
  const found = new Map<string, TrustError>();
  /** A problem of one part lasts until that part works, whatever works beside it. The newest problem is said. */
  const sayOf = (part: string) => (error: TrustError | null) => {
    if (error?.code !== found.get(part)?.code) found.delete(part);
    if (error !== null) found.set(part, error);
    const newest = [...found.values()].at(-1);
    setProblem(newest === undefined ? null : `${plainWords(newest, url)} (${newest.code})`, newest?.code);
  };
  let uncounted = 0;
  const sayUncounted = (progress: SpoolProgress) => {
    if (progress.phase === 'delivering' || progress.uncounted === uncounted) return;
    options.log(uncountedText(progress.uncounted - uncounted));
    uncounted = progress.uncounted;
  };
  let spool: EventSpool | undefined;
  try {
    spool = await EventSpool.open({
      folder: join(stateDir, 'spool', `watch-${name.slice(-12)}`),
      to: client,
      whenFull: 'wait',
      onProgress: (progress) => {
        sayOf('spool')(progress.lastError);
        sayUncounted(progress);
      },
      onSetAside: ({ event, code, reason }) => {
        state.refused.add(event.event_id);
        options.log(`the node will never accept a report as it is: ${reason} (${code})`);
      },
    });
    await learnKinds(kinds, reader, options, sayOf('kinds'));
    if (kinds.isOfTokens) throw listOfAccounts();
    const withdrawals = withdrawalsOf({ state, client, spool, options, say: sayOf('withdrawals') });
    await new ListWatch({ options, path, state, spool, kinds, withdrawals }).run();
    await withdrawals.ended();
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await spool?.close();
    await client.close();
    await reader.close();
    await state.saveRefused();
  }
}

/** Reports nothing before the kinds are known, or with a wrong salt: an id would name another player for good. */
async function learnKinds(
  kinds: KnownKinds,
  reader: NodeReader,
  { config, log, signal, runtime = systemRuntime }: WatchOptions,
  say: (error: TrustError | null) => void,
): Promise<void> {
  for (;;) {
    try {
      await kinds.learn(reader);
      return say(null);
    } catch (error) {
      if (!(error instanceof TrustError)) throw error;
      if (kinds.kinds !== null && error.code !== 'salt_mismatch') {
        // This problem does not last: nothing asks again, and the watch works with the kinds that it knows.
        log(`${plainWords(error, config.url)} (${error.code}); the kinds of ids that it stated before are used`);
        return;
      }
      say(error);
      await pause(runtime, bounds.withdrawPauseMs, signal);
    }
  }
}

interface Parts {
  readonly options: WatchOptions;
  readonly path: string;
  readonly state: WatchState;
  readonly spool: EventSpool;
  readonly kinds: KnownKinds;
  readonly withdrawals: Withdrawals;
}

/** The format in the state of a list that a description of the user reads: its name is none for `--format`. */
const described = '--description';

class ListWatch {
  readonly #runtime: Runtime;
  readonly #file: ListFile | PolledList;
  readonly #setProblem: ReturnType<typeof problemLog>;
  readonly #memory = new RowMemory();
  /** Since when damage is taken for a document that is being written, however often that changed; else null. */
  #heldSince: number | null = null;
  /** The event ids of the bans of the last look: the memory gives the players of unchanged rows again. */
  #bans: ReadonlyMap<Player, string> = new Map();
  /** The last planned text, so that an unchanged list is not read again. */
  #planned: { readonly text: string; readonly plan: ImportPlan } | null = null;
  /** The file as it was when nothing was left to decide. */
  #decided: { readonly bytes: Buffer; readonly isStill: boolean } | null = null;
  #doubted = 0;
  #refused = 0;
  #unread: number | undefined;
  #isFirst: boolean;

  constructor(private readonly parts: Parts) {
    this.#runtime = parts.options.runtime ?? systemRuntime;
    const { options, path } = parts;
    const elapsedMs = () => this.#runtime.elapsedMs();
    this.#file = options.source.isPlainFile ? new ListFile(path, elapsedMs) : new PolledList({ ...options, elapsedMs });
    this.#setProblem = problemLog(options.log, 'the list can be read again');
    this.#isFirst = parts.state.format === null;
  }

  async run(): Promise<void> {
    const { options, state } = this.parts;
    while (!options.signal.aborted) {
      await this.#look();
      await state.saveRefused();
      await pause(this.#runtime, bounds.listPollMs, options.signal).catch(() => undefined);
    }
  }

  async #look(): Promise<void> {
    const { state, options } = this.parts;
    const found = await this.#found();
    if (found === null) return;
    const isStill = found.stillMs >= bounds.listTailMs;
    if (this.#decided?.bytes === found.bytes && this.#decided.isStill === isStill) return;
    this.#decided = { bytes: found.bytes, isStill };
    const list = this.#listIn(found.bytes, isStill);
    if (list === null) return;
    const isDocument = list.format.shape === 'json' || list.format.shape === 'xml';
    const whole = wholeTextOf(list.text, isStill || isDocument);
    const isBaseline = this.#isFirst && options.newOnly === true;
    if (whole === null) return;
    const { text } = whole;
    const elapsedMs = this.#runtime.elapsedMs();
    const mayGrow = isDocument && !isStill && elapsedMs - (this.#heldSince ?? elapsedMs) < bounds.listTailMs;
    const plan = this.#planned?.text === text ? this.#planned.plan : this.#planOf(list, text, mayGrow);
    this.#heldSince = plan === null ? (this.#heldSince ?? elapsedMs) : null;
    if (plan === null) return;
    this.#planned = { text, plan };
    const isWhole = whole.isWhole && plan.unread === null;
    // The bans of a baseline are known as a whole, also that of a last line without a break.
    if (isBaseline && !isWhole) return this.#tell(plan, 0);
    const { config, gameId, origin } = options;
    const events = { peerId: config.peerId, groupSalt: config.groupSalt, list: plan.list, gameId, origin };
    let person = { row: 0, ban: '' };
    const bans = new Map<Player, string>();
    const listed = plan.entries.map((entry) => {
      const ban = this.#bans.get(entry.player) ?? eventOf(entry, events).eventId!;
      bans.set(entry.player, ban);
      if (entry.row !== person.row) person = { row: entry.row, ban };
      return { ban, person: person.ban, entry };
    });
    this.#bans = bans;
    const look = { ...found, now: this.#runtime.now(), isWhole, allowMassLift: options.allowMassLift === true };
    const changes = changesOf(listed, state.standing, look);
    if (changes.isUndecided) this.#decided = null;
    this.#tell(plan, changes.doubts);
    const { begun, ended, lifted, rotated, doubted, returned, isAccepted } = changes;
    const mark = isAccepted ? 'present' : 'fresh';
    await this.#report(begun, mark, events, isBaseline);
    for (const ban of ended) state.standing.delete(ban);
    state.mark(rotated, 'rotated');
    state.mark(doubted, 'doubted');
    state.mark(returned, mark);
    for (const ban of lifted) state.lift(ban);
    const changed = [begun, ended, lifted, rotated, doubted, returned].some(({ length }) => length > 0);
    if (this.#isFirst || changed) await state.save();
    if (isWhole) this.#file.accept();
    if (begun.length > 0) {
      options.log(isBaseline ? `${begun.length} bans of the list are known` : `reported ${begun.length} bans`);
    }
    if (rotated.length > 0) options.log(`the list was rotated: ${rotated.length} bans that left it stay reported`);
    if (lifted.length > 0) this.parts.withdrawals.begin();
    this.#isFirst = false;
  }

  /** Returns the list; null if there is none, or none that can be read now, which changes nothing and is said once. */
  async #found(): Promise<ListText | null> {
    try {
      const found = await this.#file.look();
      this.#setProblem(null);
      return found;
    } catch (error) {
      if (!(error instanceof PeerError) || error.exitCode === 2) throw error;
      if (!this.parts.options.signal.aborted) this.#setProblem(`${error.message}; nothing is withdrawn`);
      return null;
    }
  }

  /** Reads the list in its former format; null if it is too short for recognition. */
  #listIn(bytes: Buffer, isStill: boolean): DecodedList | null {
    const { options, state } = this.parts;
    const format = options.format === 'auto' ? (state.format ?? 'auto') : options.format;
    if (format === described && options.description === undefined) {
      throw wrongUsage('the list was watched with --description: give it again, or name a format with --format');
    }
    try {
      const list = listOf(bytes, { ...options, format, name: options.source.name });
      state.format = options.description === undefined ? list.format.name : described;
      return list;
    } catch (error) {
      // A list that is being written may not show its format yet.
      const isEarly = error instanceof PeerError && error.exitCode === 4 && (bytes.byteLength === 0 || !isStill);
      if (isEarly) return null;
      throw error;
    }
  }

  /** Returns null for a damaged list if it `mayGrow`: a program may be writing it. */
  #planOf({ format }: DecodedList, text: string, mayGrow: boolean): ImportPlan | null {
    const { options, kinds } = this.parts;
    const plan = planOf(format, text, {
      ...options,
      now: this.#runtime.now(),
      kinds: kinds.kinds?.length ? kinds.kinds : null,
      memory: this.#memory,
    });
    if (mayGrow && plan.unread !== null) return null;
    // Entries of a CSV list or a table have all cells, and each list its path; a cell that no entry has may come back.
    const isTable = format.shape === 'csv' || format.shape === 'sql';
    const lacking = plan.unknown.lacking.filter((name) => isTable || this.#isFirst || name === format.path);
    assertDescribed({ ...plan, unknown: { ...plan.unknown, lacking } });
    return plan;
  }

  async #report(begun: readonly ListedBan[], mark: Mark, events: EventOptions, isBaseline: boolean): Promise<void> {
    const { state, spool, options } = this.parts;
    const adding: Promise<string>[] = [];
    for (const { ban, person, entry } of begun) {
      const eventId = state.eventIdOf(ban);
      state.standing.set(ban, { eventId, expiresAt: entry.expiresAt, person, mark });
      if (!isBaseline) adding.push(spool.add({ ...eventOf(entry, events), eventId }, { signal: options.signal }));
    }
    await Promise.all(adding);
  }

  #tell({ refused, unread }: ImportPlan, doubted: number): void {
    const { log } = this.parts.options;
    if (doubted > 0 && doubted !== this.#doubted)
      log(`${doubted} bans are missing at once: nothing is withdrawn; if they are lifted, run with --allow-mass-lift`);
    this.#doubted = doubted;
    if (unread !== null && unread.line !== this.#unread) {
      log(`line ${unread.line}: ${unread.reason}; no ban counts as lifted because it is missing`);
    } else if (refused.length > this.#refused) {
      const { line } = refused.at(-1)!;
      const text = `${refused.length} lines are not bans of players, the last of them line ${line}`;
      log(`${text}; see ptf-peer import --dry-run`);
    }
    this.#refused = refused.length;
    this.#unread = unread?.line;
  }
}

interface WithdrawalParts extends Pick<Parts, 'state' | 'spool' | 'options'> {
  readonly client: TrustClient;
  readonly say: (error: TrustError | null) => void;
}

type Withdrawals = ReturnType<typeof withdrawalsOf>;

/** Withdraws the events of lifted bans once the spool has delivered them, beginning with those that the state owes. */
function withdrawalsOf({ state, client, spool, options, say }: WithdrawalParts) {
  const { signal, log, runtime = systemRuntime } = options;
  let running: Promise<void> | null = null;
  const run = async () => {
    let withdrawn = 0;
    for (let isStored = state.owed.size === 0; !isStored && !signal.aborted; ) {
      try {
        await spool.drained({ signal });
        for (const eventId of state.owed) {
          // If the node does not hold the event, it was withdrawn before, or never accepted.
          await client.withdraw(eventId, { signal }).catch((error: unknown) => {
            if (!(error instanceof TrustError) || error.code !== 'event_not_found') throw error;
          });
          state.owed.delete(eventId);
          withdrawn++;
        }
        await state.save();
        isStored = state.owed.size === 0;
        say(null);
      } catch (error) {
        // A watch that fails closes the spool; the next one withdraws what the state owes.
        if (signal.aborted || (error instanceof TrustError && error.code === 'closed')) return;
        // Nobody awaits this run: a state that could not be stored, as on a full disk, is said and stored later.
        say(error instanceof TrustError ? error : new TrustError('spool_failed', `${error}`, { cause: error }));
        await pause(runtime, bounds.withdrawPauseMs, signal).catch(() => undefined);
      }
    }
    if (withdrawn > 0) log(`withdrew ${withdrawn} bans that were lifted`);
  };
  const begin = (): void => {
    running ??= run().finally(() => {
      running = null;
    });
  };
  begin();
  return { begin, ended: async () => running };
}
