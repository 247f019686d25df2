/** Turns the verdict stream into changes for a relay. The stream is read further only once these are delivered. */
import type { TrustValues } from '../../client/entry.js';
import type { StreamTable } from '../../client/for-peer.js';
import { type RelayJournal, setVerdict } from './relay-journal.js';
import { type ChangeDraft, changeIdOf, type VerdictChange } from './webhook.js';

export interface RelayTableOptions {
  readonly journal: RelayJournal;
  /** Treats the first snapshot as known. Otherwise each verdict of the snapshot that is not neutral is a change. */
  readonly newOnly: boolean;
  /** Resolves once the change is delivered or set aside; rejects if the relay ends. */
  readonly deliver: (change: VerdictChange) => Promise<void>;
}

export class RelayTable implements StreamTable {
  answerMs = 0;
  inSnapshot = false;
  readonly complete = false;
  /** Players known before the present snapshot that it has not named yet. */
  #unnamed = new Set<string>();
  readonly #drafts = new Set<ChangeDraft>();
  #isBaseline: boolean;

  constructor(private readonly options: RelayTableOptions) {
    this.#isBaseline = options.newOnly && options.journal.lastEventId === '';
  }

  get size(): number {
    return this.options.journal.verdicts.size;
  }

  setPublished(subject: string, values: TrustValues): void {
    this.#unnamed.delete(subject);
    this.#change(subject, values);
  }

  removePublished(subject: string): void {
    this.#change(subject, null);
  }

  snapshotBegins(): void {
    this.inSnapshot = true;
    this.#unnamed = new Set(this.options.journal.verdicts.keys());
  }

  snapshotEnds(): void {
    this.inSnapshot = false;
    for (const subject of this.#unnamed) this.#change(subject, null);
    this.#unnamed.clear();
  }

  streamBroke(): void {
    this.inSnapshot = false;
    this.#unnamed.clear();
  }

  orphan(): void {}

  /** Delivers the changes, one after the other, then records the id. */
  async settle(lastEventId: string): Promise<void> {
    const { journal, deliver } = this.options;
    if (this.#isBaseline) {
      if (lastEventId === '' || this.inSnapshot) return;
      await journal.reached(lastEventId, true);
      this.#isBaseline = false;
    }
    for (const draft of this.#drafts) {
      const { subject, to } = draft;
      const id = changeIdOf(journal.lastEventId, journal.deliveredSinceId(subject), draft);
      await deliver({ id, ...draft, at: Date.now() });
      await journal.delivered(subject, to?.verdict ?? null);
      this.#drafts.delete(draft);
    }
    if (lastEventId !== '') await journal.reached(lastEventId);
  }

  #change(subject: string, to: TrustValues | null): void {
    const { verdicts } = this.options.journal;
    const from = verdicts.get(subject) ?? 'neutral';
    const verdict = to?.verdict ?? 'neutral';
    if (verdict === from) return;
    setVerdict(verdicts, subject, verdict);
    if (!this.#isBaseline) this.#drafts.add({ subject, from, to });
  }
}
