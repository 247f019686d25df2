/** Declares a change of one player's verdict, and builds the webhook bodies that report it. */
import { hash } from 'node:crypto';
import type { TrustValues, Verdict } from '../../client/player-trust.js';

export interface VerdictChange {
  readonly id: string;
  readonly subject: string;
  readonly from: Verdict;
  /** Null if the player was removed from the group. */
  readonly to: TrustValues | null;
  /** Time at which this relay noticed the change, in ms since 1970. */
  readonly at: number;
}

/** Returns the id of a change, which follows from its position in the stream, so that a repetition has the same id. */
export function changeIdOf(
  lastEventId: string,
  nth: number,
  change: Pick<VerdictChange, 'subject' | 'from' | 'to'>,
): string {
  const { subject, from, to } = change;
  const what = JSON.stringify([lastEventId, nth, subject, from, to?.verdict ?? null]);
  return `msg_${hash('sha256', what, 'hex').slice(0, 40)}`;
}

/** Returns the body of a webhook: the envelope that Standard Webhooks recommends. */
export function webhookBody({ subject, from, to, at }: VerdictChange): object {
  const timestamp = new Date(at).toISOString();
  if (to === null) {
    return { type: 'player.removed', timestamp, data: { subject_hash: subject, previous_verdict: from } };
  }
  const { verdict, score, confidence } = to;
  const data = { subject_hash: subject, verdict, previous_verdict: from, score, confidence };
  return { type: 'verdict.changed', timestamp, data };
}

const colours: Readonly<Record<Verdict, number>> = {
  trusted: 0x2e7d32,
  neutral: 0x757575,
  suspicious: 0xf9a825,
  untrusted: 0xc62828,
};
const hashShown = 16;

export function discordBody({ id, subject, from, to, at }: VerdictChange): object {
  const field = (name: string, value: string) => ({ name, value, inline: true });
  const fields = [field('Player', `\`${subject.slice(0, hashShown)}…\``), field('Before', from)];
  if (to !== null) fields.push(field('Score', String(to.score)), field('Confidence', String(to.confidence)));
  const embed = {
    title: to === null ? 'A player was removed from the group' : `A player is now ${to.verdict}`,
    color: to === null ? colours.neutral : colours[to.verdict],
    fields,
    timestamp: new Date(at).toISOString(),
    footer: { text: id },
  };
  return { allowed_mentions: { parse: [] }, embeds: [embed] };
}
