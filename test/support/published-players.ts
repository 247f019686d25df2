/** Players as a change feed publishes them. */
import { type PublishedPlayer, type PublishedPlayers, playersIn } from '../../src/group/verdict-changes.js';

export function publishedPlayer(subject: string, score = 50): PublishedPlayer {
  return { subject, score, confidence: 0.5, verdict: 'neutral', allowed: false };
}

export function publishedPlayers(...subjects: readonly string[]): PublishedPlayers {
  return {
    subjects: subjects.join(''),
    scores: new Uint16Array(subjects.length).fill(5_000),
    confidences: new Uint16Array(subjects.length).fill(5_000),
    verdicts: new Uint8Array(subjects.length),
  };
}

/** Enters the players of a walk in the table of a reader. */
export function readInto(reader: Map<string, PublishedPlayer>, players: PublishedPlayers): void {
  for (const player of playersIn(players)) reader.set(player.subject, player);
}
