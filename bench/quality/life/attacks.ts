/**
 * Attacks on a simulated life. Every attack adds the events of the adversaries, which join after the honest peers, and
 * returns the targeted players.
 */
import type { LifeEvent } from '../../data/life-set.js';
import { sample, uniform } from '../random.js';
import type { LifeEventType, LifeScene } from './scene.js';

/** The number at the end is that of the adversaries. */
export const lifeAttacks = [
  'liar1',
  'liar2',
  'liar3',
  'zealot1',
  'copied3',
  'echo2',
  'sleeper1',
  'whitewash1',
  'camo2',
  'camo3',
  'aggregate1',
  'aggregate2',
] as const;

/** Attempts of our own; the goals leave them out. */
export const lifeAttempts = [
  'first1',
  'racer1',
  'racer3',
  'early1',
  'pair2',
  'thirds3',
  'slander2',
  'lifter1',
] as const;

type LifeAttack = (scene: LifeScene, adversaries: readonly number[]) => number[];

/**
 * Returns the attack of a name in `lifeAttacks` or `lifeAttempts` with the number of its adversaries; without a name,
 * no attack.
 */
export function attacksOf(name: string | undefined): { readonly attack: LifeAttack; readonly count: number } {
  if (name === undefined) return { attack: () => [], count: 0 };
  return { attack: attacks[name.slice(0, -1) as keyof typeof attacks], count: Number(name.at(-1)) };
}

const praise: readonly LifeEventType[] = ['commendation', 'session_clean'];

const attacks = {
  /** All liars lower the same 200 good players. */
  liar(scene, liars) {
    const targets = goodPlayers(scene, 200);
    for (const liar of liars) for (const player of targets) scene.lie(liar, player, lowering(scene), dayOf(scene));
    return targets;
  },

  /** Peers are honest about some hundred players, then all lower the same 40 good ones. */
  camo(scene, liars) {
    const targets = goodPlayers(scene, 40);
    const seen = somePlayers(scene, 900);
    for (const liar of liars) {
      for (const player of seen) {
        const lowers = (isBad(scene, player) && scene.random() < 0.6) || scene.random() < 0.01;
        if (lowers) scene.lie(liar, player, lowering(scene), dayOf(scene));
        else if (praises(scene) && scene.random() < 0.4) scene.lie(liar, player, praise, dayOf(scene));
      }
      for (const player of targets) scene.lie(liar, player, lowering(scene), dayOf(scene, 0.5));
    }
    return targets;
  },

  /** A peer lowers one in ten of the good players that it meets, and most of the bad ones. */
  zealot(scene, [zealot]) {
    const seen = somePlayers(scene, 1200);
    for (const player of seen) {
      if (scene.random() < (isBad(scene, player) ? 0.8 : 0.1)) {
        scene.lie(zealot!, player, lowering(scene), dayOf(scene));
      }
    }
    return seen.filter((player) => !isBad(scene, player));
  },

  /** A peer is honest at first, and lowers 150 good players at the end. */
  sleeper(scene, [sleeper]) {
    const seen = somePlayers(scene, 1000);
    const targets = goodPlayers(scene, 150);
    for (const player of seen) {
      if (scene.random() < (isBad(scene, player) ? 0.7 : 0.01)) {
        scene.lie(sleeper!, player, lowering(scene), dayOf(scene, 0, 0.7));
      }
    }
    for (const player of targets) scene.lie(sleeper!, player, lowering(scene), dayOf(scene, 0.8));
    return targets;
  },

  /** A peer praises half of the bad players over and over, or sends liftings where peers do not praise. */
  whitewash(scene, [washer]) {
    const bad = scene.playersThatAre(true);
    const targets = sample(bad, Math.floor(bad.length / 2), scene.random);
    for (const player of targets) {
      for (let k = 0; k < 15; k++) {
        scene.lie(washer!, player, praises(scene) ? praise : ['ban_lifted'], dayOf(scene));
      }
    }
    return targets;
  },

  /** Peers repeat what any peer says first about a player, and half of the praise for players whom nobody lowers. */
  aggregate(scene, repeaters) {
    const sent = scene.sentEvents();
    const lowered = firstDays(sent, ({ type }) => lowers(type));
    const praised = firstDays(sent, ({ type }) => !lowers(type));
    for (const peer of repeaters) {
      for (const [player, day] of lowered) {
        const types = scene.profile === 'bans' ? lowering(scene) : (['report_cheating'] as const);
        if (scene.random() < 0.9) scene.lieAfter(day, 1, peer, player, types);
      }
      for (const [player, day] of praised) {
        if (!lowered.has(player) && scene.random() < 0.5) scene.lieAfter(day, 1, peer, player, ['commendation']);
      }
    }
    return [...lowered.keys()].filter((player) => !isBad(scene, player));
  },

  /** Peers import the list of the largest peer. */
  copied(scene, importers) {
    const types = lowering(scene);
    const source = scene.popularity.reduce<number>((largest, popularity, peer) => {
      const isLarger = largest < 0 || popularity > scene.popularity[largest]!;
      return scene.sends(peer, types[0]!) && isLarger ? peer : largest;
    }, -1);
    const list = scene.events.filter(({ peer, type }) => peer === source && type === types[0]);
    for (const importer of importers) {
      for (const { player, day } of list) {
        if (scene.random() < 0.95) scene.lieAfter(day, 2, importer, player, types);
      }
    }
    return [];
  },

  /** Peers repeat half of the first bans. */
  echo(scene, echoes) {
    const banned = firstDays(scene.sentEvents(), ({ type }) => type === 'ban_applied');
    for (const echo of echoes) {
      for (const [player, day] of banned) {
        if (scene.random() < 0.5) scene.lieAfter(day, 2, echo, player, lowering(scene));
      }
    }
    return [];
  },

  /** A peer lowers every player before anybody else does, so that all others come after it. */
  first(scene, [peer]) {
    for (const player of scene.players.keys()) scene.lie(peer!, player, lowering(scene), 0);
    return scene.playersThatAre(false);
  },

  /** Peers ban whoever was reported once, at once; several share the players. */
  racer(scene, racers) {
    const reported = firstDays(scene.sentEvents(), ({ type }) => lowers(type));
    for (const [player, day] of reported) {
      scene.lieAfter(day, 0.01, racers[player % racers.length]!, player, lowering(scene));
    }
    return [...reported.keys()].filter((player) => !isBad(scene, player));
  },

  /** A peer bans everybody at the start and lifts most of it, so that its own later bans seem to be first. */
  early(scene, [peer]) {
    const banned = firstDays(scene.sentEvents(), ({ type }) => type === 'ban_applied');
    for (const player of scene.players.keys()) {
      scene.lie(peer!, player, ['ban_applied'], 0);
      scene.lie(peer!, player, ['ban_lifted'], 0.1);
    }
    for (const [player, day] of banned) scene.lieAfter(day, 2, peer!, player, ['ban_applied']);
    return [...banned.keys()].filter((player) => !isBad(scene, player));
  },

  /** Two peers take turns to ban first whom the other bans next, so that neither follows more often than the other. */
  pair(scene, liars) {
    const targets = goodPlayers(scene, 60);
    targets.forEach((player, n) => {
      const day = dayOf(scene);
      scene.lie(liars[n % 2]!, player, lowering(scene), day);
      scene.lieAfter(day, 1, liars[1 - (n % 2)]!, player, lowering(scene));
    });
    return targets;
  },

  /** Three peers: each two of them ban a third of the targets, and all are honest about others. */
  thirds(scene, liars) {
    const targets = goodPlayers(scene, 60);
    targets.forEach((player, n) => {
      for (const k of [0, 1, 2]) if (n % 3 !== k) scene.lie(liars[k]!, player, lowering(scene), dayOf(scene));
    });
    for (const player of scene.playersThatAre(true)) {
      for (const liar of liars) if (scene.random() < 0.5) scene.lie(liar, player, lowering(scene), dayOf(scene));
    }
    return targets;
  },

  /** Two peers ban good players whom an honest peer banned and lifted. */
  slander(scene, liars) {
    const lifted = firstDays(scene.sentEvents(), ({ type }) => type === 'ban_lifted');
    const targets = [...lifted.keys()].filter((player) => !isBad(scene, player));
    for (const liar of liars)
      for (const player of targets) scene.lieAfter(lifted.get(player)!, 5, liar, player, lowering(scene));
    return targets;
  },

  /** A peer bans and lifts the same players over and over. */
  lifter(scene, [peer]) {
    const targets = somePlayers(scene, 300);
    for (const player of targets) {
      for (let day = 1; day < 140; day += 20) {
        scene.lie(peer!, player, ['ban_applied'], day);
        scene.lie(peer!, player, ['ban_lifted'], day + 10);
      }
    }
    return targets.filter((player) => !isBad(scene, player));
  },
} as const satisfies Record<string, LifeAttack>;

/** Returns what liars send in the group: bans, or reports where all peers only report. */
function lowering({ profile }: LifeScene): readonly LifeEventType[] {
  return profile === 'reports' ? ['report_cheating'] : ['ban_applied'];
}

function praises({ profile }: LifeScene): boolean {
  return profile === 'full' || profile === 'hetero';
}

function lowers(type: LifeEventType): boolean {
  return type === 'report_cheating' || type === 'session_anomaly' || type === 'ban_applied';
}

function isBad({ players }: LifeScene, player: number): boolean {
  return players[player]!.isBad;
}

function goodPlayers(scene: LifeScene, count: number): number[] {
  return sample(scene.playersThatAre(false), count, scene.random);
}

function somePlayers(scene: LifeScene, count: number): number[] {
  return sample([...scene.players.keys()], count, scene.random);
}

/** Returns a day between two shares of the whole time. */
function dayOf({ random, days }: LifeScene, from = 0, to = 1): number {
  return uniform(random, from * days, to * days);
}

/** Returns the day of the first of these events about each player, in the order of the events. */
function firstDays(events: readonly LifeEvent[], has: (event: LifeEvent) => boolean): Map<number, number> {
  const days = new Map<number, number>();
  for (const event of events) if (has(event) && !days.has(event.player)) days.set(event.player, event.day);
  return days;
}
