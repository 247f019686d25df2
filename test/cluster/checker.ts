/**
 * Holds the history of a run against the final logs of the nodes. Each function answers the broken rules of one
 * invariant as sentences; none means that it holds. Pure: it reads no file and asks no node.
 */
import type { EventOp, FencedSlot, FinalNode, History, LogEntry, ReadOp, StreamOp } from './history.js';

/** Examples of one broken rule that are told; the rest would only repeat it. */
const examplesMax = 3;

/** All invariants of a run. */
export function check(history: History, nodes: readonly FinalNode[]): string[] {
  return [
    ...nodes.flatMap((node) => brokenLog(node)),
    ...differingLogs(nodes),
    ...nodes.slice(0, 1).flatMap((node) => brokenEvents(history, node)),
    ...overlappingFences(history.slots),
    ...readsBackInTime(history.reads),
    ...streamsBackInTime(history.streams),
  ];
}

/** A log has the records 1, 2, 3, … and no event id twice. */
export function brokenLog({ name, log }: FinalNode): string[] {
  const gaps = log.filter(({ seq }, index) => seq !== index + 1).map(({ seq }) => `record ${seq}`);
  const seen = new Set<string>();
  const doubled: string[] = [];
  for (const { eventId } of log) {
    if (eventId === undefined) continue;
    if (seen.has(eventId)) doubled.push(eventId);
    seen.add(eventId);
  }
  return [
    ...told(gaps, (what) => `${name}: there is a gap before ${what}`),
    ...told(doubled, (what) => `${name}: doubled event ${what}`),
  ];
}

/** All nodes hold the same records in the same order, and come to the same state. */
export function differingLogs(nodes: readonly FinalNode[]): string[] {
  const [first, ...others] = nodes;
  if (first === undefined) return ['no node was left to look at'];
  return others.flatMap((other) => {
    const length = Math.max(first.log.length, other.log.length);
    for (let i = 0; i < length; i++) {
      const [one, two] = [first.log[i], other.log[i]];
      if (one?.seq === two?.seq && one?.digest === two?.digest) continue;
      return [`${first.name} and ${other.name} differ at record ${i + 1}: ${shown(one)} and ${shown(two)}`];
    }
    if (first.stateDigest === other.stateDigest) return [];
    return [`${first.name} and ${other.name} hold the same log and come to different states`];
  });
}

/** Acknowledged events are there once, refused ones never, in an order that their times allow. */
export function brokenEvents({ events, removals }: History, { name, log }: FinalNode): string[] {
  const places = new Map(log.flatMap(({ eventId, seq }) => (eventId === undefined ? [] : [[eventId, seq] as const])));
  // Whether a removal with an unknown outcome took place, nobody can say.
  const tried = removals.filter(({ outcome }) => outcome !== 'refused');
  const withdrawn = new Set(tried.flatMap(({ kind, target }) => (kind === 'withdraw' ? [target] : [])));
  const erased = new Set(tried.flatMap(({ kind, target }) => (kind === 'erase' ? [target] : [])));
  const mayBeGone = ({ id, player }: EventOp) => withdrawn.has(id) || erased.has(player);
  const lost = events.filter((op) => op.outcome === 'acknowledged' && !places.has(op.id) && !mayBeGone(op));
  const unwanted = events.filter(({ outcome, id }) => outcome === 'refused' && places.has(id));
  const held = removals
    .filter(({ kind, outcome, target }) => kind === 'withdraw' && outcome === 'acknowledged' && places.has(target))
    .map(({ target }) => target);
  return [
    ...told(ids(lost), (what) => `${name}: lost event ${what}`),
    ...told(ids(unwanted), (what) => `${name}: refused event ${what} is in the log`),
    ...told(held, (what) => `${name}: withdrawn event ${what} is in the log`),
    ...told(ids(reordered(events, places)), (what) => `${name}: re-ordered event ${what}`),
  ];
}

/** Events that were acknowledged before others began that stand before them in the log. */
function reordered(events: readonly EventOp[], places: ReadonlyMap<string, number>): EventOp[] {
  const inLog = events
    .filter(({ outcome, id }) => outcome === 'acknowledged' && places.has(id))
    .sort((one, two) => places.get(one.id)! - places.get(two.id)!);
  let latestStart = Number.NEGATIVE_INFINITY;
  return inLog.filter(({ startedAt, endedAt }) => {
    const isLate = endedAt < latestStart;
    latestStart = Math.max(latestStart, startedAt);
    return isLate;
  });
}

/** Along the log fences only rise: nothing is written under a fence once the next leader wrote under its own. */
export function overlappingFences(slots: readonly FencedSlot[]): string[] {
  const inOrder = [...slots].sort((one, two) => one.firstSeq - two.firstSeq);
  const back = inOrder.filter(({ fence }, index) => index > 0 && fence < inOrder[index - 1]!.fence);
  const twice = inOrder.filter(({ firstSeq }, index) => firstSeq === inOrder[index - 1]?.firstSeq);
  return [
    ...told(back, ({ firstSeq, fence }) => `slot ${firstSeq} was written under fence ${fence}, after a later one`),
    ...told(twice, ({ firstSeq }) => `slot ${firstSeq} was written twice`),
  ];
}

/** What one reader reads from one node never goes back in time. */
export function readsBackInTime(reads: readonly ReadOp[]): string[] {
  const newest = new Map<string, number>();
  const back: ReadOp[] = [];
  for (const read of [...reads].sort((one, two) => one.at - two.at)) {
    const key = `${read.reader} ${read.node}`;
    if (read.appliedSeq < (newest.get(key) ?? 0)) back.push(read);
    newest.set(key, Math.max(newest.get(key) ?? 0, read.appliedSeq));
  }
  return told(
    back,
    ({ reader, node, appliedSeq }) => `${reader} read record ${appliedSeq} from ${node} after a later one`,
  );
}

/** The ids of a stream never go back, but where the node said that it begins anew. */
export function streamsBackInTime(streams: readonly StreamOp[]): string[] {
  const newest = new Map<string, number>();
  const back: StreamOp[] = [];
  for (const told of streams) {
    if (!told.isReset && told.seq < (newest.get(told.reader) ?? 0)) back.push(told);
    newest.set(told.reader, told.seq);
  }
  return told(back, ({ reader, seq }) => `${reader} was told record ${seq} after a later one`);
}

function ids(events: readonly EventOp[]): string[] {
  return events.map(({ id }) => id);
}

function shown(entry: LogEntry | undefined): string {
  return entry === undefined ? 'nothing' : `${entry.type} ${entry.eventId ?? ''}`.trimEnd();
}

/** The first few, and how many there are beside them. */
function told<T>(found: readonly T[], text: (one: T) => string): string[] {
  const shownOnes = found.slice(0, examplesMax).map(text);
  const more = found.length - shownOnes.length;
  return more > 0 ? [...shownOnes.slice(0, -1), `${shownOnes.at(-1)}, and ${more} more like it`] : shownOnes;
}
