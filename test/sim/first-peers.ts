/**
 * The oracle's own account of peers that are first about nearly everybody, from the list of all beginnings since the
 * start of the process: nothing is kept between two questions but that list.
 */

/**
 * A peer began to lower a player; `others` lowered the player before, null where that is too near to nothing to say.
 */
interface Beginning {
  readonly peer: number;
  readonly others: readonly number[] | null;
}

export interface First {
  /** Peers that make nobody follow them, and those of them that always follow. */
  readonly heard: ReadonlySet<number>;
  readonly mute: ReadonlySet<number>;
}

export class BeginningList {
  #all: Beginning[] = [];
  #examined = { length: 0, heard: new Set<number>() };

  get length(): number {
    return this.#all.length;
  }

  add(beginning: Beginning): void {
    this.#all.push(beginning);
  }

  truncate(length: number): void {
    this.#all.length = length;
    if (this.#examined.length > length) this.#examined = { length: 0, heard: new Set() };
  }

  /** Null if it cannot be said. */
  first(): First | null {
    if (this.#all.some(({ others }) => others === null)) return null;
    const length = this.#all.length - (this.#all.length % 16);
    if (length !== this.#examined.length) this.#examined = { length, heard: firstOf(this.#all.slice(0, length)) };
    const { heard } = this.#examined;
    const times = (peer: number) => this.#all.filter((one) => one.peer === peer).length;
    return { heard, mute: new Set([...heard].filter((peer) => times(peer) > this.#all.length / 2)) };
  }
}

function firstOf(all: readonly Beginning[]): Set<number> {
  const peers = [...new Set(all.map(({ peer }) => peer))];
  const asked = peers.flatMap((peer) => {
    let count = 0;
    const before = new Map<number, number>();
    for (const { others } of all.filter((one) => one.peer === peer)) {
      count++;
      for (const other of others!) before.set(other, (before.get(other) ?? 0) + 1);
      if (count < 64) continue;
      count /= 2;
      for (const [other, times] of before) {
        if (times < 1) before.delete(other);
        else before.set(other, times / 2);
      }
    }
    return count >= 8 ? [{ peer, count, before }] : [];
  });
  const everybody = new Set(asked.flatMap(({ before }) => [...before.keys()]));
  return new Set(
    [...everybody].filter((one) => {
      const others = asked.filter(({ peer }) => peer !== one);
      const after = others.filter(({ count, before }) => (before.get(one) ?? 0) >= 0.7 * count);
      return after.length >= 3 && after.length >= others.length / 2;
    }),
  );
}
