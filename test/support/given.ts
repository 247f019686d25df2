/** Given/when/then for the core: a state built from records, commands decided on it, no clock and no store. */
import { hash } from 'node:crypto';
import type { SubjectKey } from '../../src/core/columns/packed-keys.js';
import type { EventSubmission, WithdrawEvent } from '../../src/core/commands.js';
import { auditPart, auditStart } from '../../src/core/records/audit.js';
import { chainTo } from '../../src/core/records/event-chain.js';
import type { EventAccepted, GroupFormed, LogRecord } from '../../src/core/records/records.js';
import { decideEvent } from '../../src/core/rules/decide-event.js';
import { decideRegistration } from '../../src/core/rules/decide-peer.js';
import { decideRevocation, headOfPair } from '../../src/core/rules/decide-removal.js';
import { decideEpoch } from '../../src/core/rules/decide-scale.js';
import { GroupState } from '../../src/core/state.js';
import { keyOf } from '../../src/core/tables/event-columns.js';
import type { Outcome } from '../../src/errors.js';

/** 2026-01-01T00:00:00Z */
export const t0 = Date.UTC(2026, 0, 1);
export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;
export const salt = Buffer.from('a salt of sixteen bytes');

export const bounds = { peersMax: 100, erasureQuotaPerDay: 3, erasureMode: 'peer' } as const;

export function formedRecord(halfLifeDays = 0): GroupFormed {
  return {
    type: 'group_formed',
    group_id: 'test',
    identity_mode: 'privacy-first',
    environment: 'dev',
    salt_digest: '00',
    node_secret: '11'.repeat(32),
    half_life_days: halfLifeDays,
    epoch: t0,
    audit: auditPart(auditStart, 1, t0, { action: 'group_formed', actor: 'test', target: 'test' }),
  };
}

/** The subject of a short name. */
export function subjectOf(name: string): Buffer {
  return hash('sha256', name, 'buffer');
}

/** The same as an event is submitted under. */
export function subjectKeyOf(name: string): SubjectKey {
  return keyOf(subjectOf(name));
}

/** A state under test, and every record that made it. */
export class Given {
  readonly state: GroupState;
  readonly records: { record: LogRecord; at: number }[] = [];
  #events = 0;

  constructor(halfLifeDays = 0) {
    const formed = formedRecord(halfLifeDays);
    this.state = new GroupState(formed, salt);
    this.apply([formed], t0);
  }

  apply(records: readonly LogRecord[], at: number): void {
    for (const record of records) {
      this.state.apply(record, at);
      this.records.push({ record, at });
    }
  }

  /** Registers peers named `peer-0`, `peer-1`, … with the games g1 and g2. */
  peers(count: number): this {
    for (let i = 0; i < count; i++) {
      const index = this.state.peers.size;
      const command = {
        peerId: `peer-${index}`,
        peerName: `Peer ${index}`,
        gameIds: ['g1', 'g2'],
        keyDigest: `key-${index}`,
        by: 'test',
      };
      this.apply(decideRegistration(this.state, bounds, command, t0).records, t0);
    }
    return this;
  }

  /**
   * Publishes weights for all peers: those of peers with an open gate of whom nothing two-sided is known, unless told
   * otherwise.
   */
  weigh(
    more: Partial<Record<'tau' | 'a' | 'b' | 'z' | 'witness', readonly number[]>> & { readonly pi?: number } = {},
  ): this {
    const { pi = 0.04, ...columns } = more;
    const column = (name: keyof typeof columns, usual: number) =>
      Float64Array.from({ length: this.state.peers.size }, (_, peer) => columns[name]?.[peer] ?? usual);
    const weights = {
      based_on_seq: this.state.lastSeq,
      computed_at: t0,
      pi,
      tau: column('tau', 1),
      a: column('a', 1.25),
      b: column('b', 0.4),
      z: column('z', 0),
      witness: Uint16Array.from({ length: this.state.peers.size }, (_, peer) => columns.witness?.[peer] ?? peer),
    };
    this.apply([{ type: 'weights_published', ...weights }], t0);
    return this;
  }

  submission(peer: number, player: string, more: Partial<EventSubmission> = {}): EventSubmission {
    return {
      schemaVersion: '1.0.0',
      eventId: `event-${this.#events++}`,
      eventType: 'report_cheating',
      peerId: `peer-${peer}`,
      subject: subjectKeyOf(player),
      gameId: 'g1',
      severity: 1,
      timestamp: t0,
      ...more,
    };
  }

  /**
   * Decides an event of a peer and applies what comes of it; answers the event's sequence number. `repeats`: whether it
   * repeats another.
   */
  event(peer: number, player: string, more: Partial<EventSubmission> = {}, now = t0, repeats = false): Outcome<number> {
    const moved = decideEpoch(this.state, now);
    if (moved !== null) this.apply([moved], now);
    const decided = decideEvent(this.state, peer, this.submission(peer, player, more), now, repeats);
    if (!decided.ok) return decided;
    this.apply([decided.value], now);
    const seq = this.state.lastSeq;
    const taken = decideRevocation(this.state, decided.value, decided.value.subject);
    if (taken !== null) this.apply([taken], now);
    return { ok: true, value: seq };
  }

  /** The withdrawal of the event that is record `eventSeq`, as the group would ask for it. */
  withdrawal(caller: number | null, eventSeq: number): WithdrawEvent {
    const read = (seq: number) => this.records[seq - 1]!.record;
    const event = read(eventSeq) as EventAccepted;
    const head = headOfPair(this.state, event.subject, event.peer);
    const chain = chainTo(read, head, eventSeq, this.state.retired.seq, Number.POSITIVE_INFINITY);
    return { caller, eventSeq, event, asOf: this.state.redacted, chain, chainAsOf: this.state.lastSeq };
  }

  row(player: string): number {
    return this.state.subjects.find(subjectOf(player));
  }
}
