/**
 * Checks the history of a run against the final logs of the nodes. Each function returns the violations of one
 * invariant as sentences. The functions are pure: they read no file and call no node.
 */
import type { EventOp, FencedSlot, FinalNode, History, LogEntry, ReadOp, StreamOp } from './history.js';

/** The number of violations of one invariant that are described. Further ones are only counted. */
const examplesMax = 3;

/** Checks all invariants of a run. */
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

/** Checks that a log has the records 1, 2, 3, … and no event id twice. */
function brokenLog({ name, log }: FinalNode): string[] {
  const gaps = log.filter(({ seq }, index) => seq !== index + 1).map(({ seq }) => `record ${seq}`);
  const seen = new Set<string>();
  const doubled: string[] = [];
  for (const { eventId } of log) {
    if (eventId === undefined) continue;
    if (seen.has(eventId)) doubled.push(eventId);
    seen.add(eventId);
  }
  return [
    ...sentences(gaps, (record) => `${name}: there is a gap before ${record}`),
    ...sentences(doubled, (id) => `${name}: doubled event ${id}`),
  ];
}

/** Checks that all nodes have the same records in the same order, and the same state. */
function differingLogs(nodes: readonly FinalNode[]): string[] {
  const [first, ...others] = nodes;
  if (first === undefined) return ['no node has a log to check'];
  return others.flatMap((other) => {
    const length = Math.max(first.log.length, other.log.length);
    for (let i = 0; i < length; i++) {
      const [one, two] = [first.log[i], other.log[i]];
      if (one?.seq === two?.seq && one?.digest === two?.digest) continue;
      return [`${first.name} and ${other.name} differ at record ${i + 1}: ${textOf(one)} and ${textOf(two)}`];
    }
    if (first.stateDigest === other.stateDigest) return [];
    return [`${first.name} and ${other.name} have the same log and different states`];
  });
}

/**
 * Checks that each acknowledged event is in the log, in an order that its time allows, and that no refused event is.
 */
function brokenEvents({ events, removals }: History, { name, log }: FinalNode): string[] {
  const places = new Map(log.flatMap(({ eventId, seq }) => (eventId === undefined ? [] : [[eventId, seq] as const])));
  // A removal with an unknown outcome may have taken place.
  const tried = removals.filter(({ outcome }) => outcome !== 'refused');
  const withdrawn = new Set(tried.flatMap(({ kind, target }) => (kind === 'withdraw' ? [target] : [])));
  const erased = new Set(tried.flatMap(({ kind, target }) => (kind === 'erase' ? [target] : [])));
  const mayBeRemoved = ({ id, player }: EventOp) => withdrawn.has(id) || erased.has(player);
  const lost = events.filter((op) => op.outcome === 'acknowledged' && !places.has(op.id) && !mayBeRemoved(op));
  const unwanted = events.filter(({ outcome, id }) => outcome === 'refused' && places.has(id));
  const held = removals
    .filter(({ kind, outcome, target }) => kind === 'withdraw' && outcome === 'acknowledged' && places.has(target))
    .map(({ target }) => target);
  return [
    ...sentences(ids(lost), (id) => `${name}: lost event ${id}`),
    ...sentences(ids(unwanted), (id) => `${name}: refused event ${id} is in the log`),
    ...sentences(held, (id) => `${name}: withdrawn event ${id} is in the log`),
    ...sentences(ids(reordered(events, places)), (id) => `${name}: re-ordered event ${id}`),
  ];
}

/** Returns the events that were acknowledged before an event began that precedes them in the log. */
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

/** Checks that fences rise along the log: a leader writes nothing after the next leader has written. */
function overlappingFences(slots: readonly FencedSlot[]): string[] {
  const inOrder = [...slots].sort((one, two) => one.firstSeq - two.firstSeq);
  const back = inOrder.filter(({ fence }, index) => index > 0 && fence < inOrder[index - 1]!.fence);
  const twice = inOrder.filter(({ firstSeq }, index) => firstSeq === inOrder[index - 1]?.firstSeq);
  return [
    ...sentences(back, ({ firstSeq, fence }) => `slot ${firstSeq} was written under fence ${fence}, after a later one`),
    ...sentences(twice, ({ firstSeq }) => `slot ${firstSeq} was written twice`),
  ];
}

/** Checks that the answers of one node to one reader never go back in time. */
function readsBackInTime(reads: readonly ReadOp[]): string[] {
  const newest = new Map<string, number>();
  const back: ReadOp[] = [];
  for (const read of [...reads].sort((one, two) => one.at - two.at)) {
    const key = `${read.reader} ${read.node}`;
    if (read.appliedSeq < (newest.get(key) ?? 0)) back.push(read);
    newest.set(key, Math.max(newest.get(key) ?? 0, read.appliedSeq));
  }
  return sentences(
    back,
    ({ reader, node, appliedSeq }) => `${reader} read record ${appliedSeq} from ${node} after a later one`,
  );
}

/** Checks that the ids of a stream never go back, except after a reset. */
function streamsBackInTime(streams: readonly StreamOp[]): string[] {
  const newest = new Map<string, number>();
  const back: StreamOp[] = [];
  for (const frame of streams) {
    if (!frame.isReset && frame.seq < (newest.get(frame.reader) ?? 0)) back.push(frame);
    newest.set(frame.reader, frame.seq);
  }
  return sentences(back, ({ reader, seq }) => `${reader} received record ${seq} after a later one`);
}

const ids = (events: readonly EventOp[]): string[] => events.map(({ id }) => id);

function textOf(entry: LogEntry | undefined): string {
  return entry === undefined ? 'nothing' : `${entry.type} ${entry.eventId ?? ''}`.trimEnd();
}

/** Describes the first violations and counts the others. */
function sentences<T>(found: readonly T[], text: (item: T) => string): string[] {
  const examples = found.slice(0, examplesMax).map(text);
  const more = found.length - examples.length;
  return more > 0 ? [...examples.slice(0, -1), `${examples.at(-1)}, and ${more} more like it`] : examples;
}
