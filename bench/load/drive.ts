/**
 * Drives a server with a workload, from this thread: in a closed loop each connection sends as soon as it is
 * answered; in an open loop requests are due at a fixed rate whatever the server does, and a latency counts from when
 * its request was due.
 */
import { Connection, noAnswer } from './connection.js';
import { Latencies } from './latency.js';

/** One kind of request. */
export interface Kind<Request extends string | Uint8Array = string | Uint8Array> {
  readonly name: string;
  /** The statuses of a success, and of refusals that the scenario provokes. */
  readonly expects: readonly number[];
  /**
   * The request number `i`, head and body: the same for the same number, but for the peer that sends it. The number
   * of the free connection decides the peer, because a peer has its own connections, as a game server does.
   */
  request(i: number, connection: number): Request;
  /** Scores or events in one request, for rates that count these; 1 where absent. */
  readonly items?: number;
  /** Whether its items are events, which an answer acknowledges. */
  readonly stores?: true;
}

export interface Workload {
  readonly kinds: readonly Kind[];
  /** Index of the kind of request number `i`. Absent: there is one kind. */
  kindAt?(i: number): number;
}

export interface DriveOptions {
  readonly host: string;
  readonly port: number;
  /** The number of connections, which the drive opens and closes, or connections of the caller, which stay open. */
  readonly connections: number | readonly Connection[];
  readonly seconds: number;
  /** Requests a second; null for a closed loop. */
  readonly rate: number | null;
  readonly workload: Workload;
  /** Number of the first request. */
  readonly first: number;
  /**
   * The load runs for so long before the time begins, because a server accepts a connection with its first request.
   * Answers until then count only by their status. 0 where absent.
   */
  readonly leadMs?: number;
  /** A closed loop never sleeps while it waits: for a load with a core of its own. An open loop hardly does anyway. */
  readonly staysAwake?: boolean | undefined;
  /** Ends the drive before its time. */
  readonly until?: AbortSignal | undefined;
  /**
   * Called a little before the time begins. It may take a moment: with a lead, answers that wait for it arrive before
   * the time.
   */
  readonly beforeBegin?: () => void;
  /** Called when the time begins, the first requests not yet sent where there is no lead, and when it is over. */
  readonly onBegin?: () => void;
  readonly onOver?: () => void;
  /** Called about every `tickMs` with the answers so far. */
  readonly onTick?: (secondsIn: number, answers: number) => void;
}

export interface KindOutcome {
  readonly name: string;
  readonly items: number;
  /** Answers with an expected status, within the time. */
  answers: number;
  readonly latencies: Latencies;
  /** The latencies of expected refusals. */
  readonly refusals: Latencies;
  /** Answers by status, the expected ones too; `noAnswer` for broken connections. */
  readonly statuses: Map<number, number>;
  /** The same, for answers within the time only. */
  readonly inTime: Map<number, number>;
  /** Answers of 503 that did not say when to try again. */
  withoutRetryAfter: number;
}

export interface Driven {
  /** As asked for, or until the drive was ended. */
  readonly seconds: number;
  readonly kinds: readonly KindOutcome[];
  /** Requests sent; the next drive starts at `first + sent`. */
  readonly sent: number;
  /** Answers before `beforeBegin` was called. */
  readonly early: number;
  /** Requests that were due but found no free connection until the end: their wait so far counts as their latency. */
  readonly unsent: number;
  /** In an open loop: how late the load itself sent the requests for which a connection was free. */
  readonly lag: Latencies;
}

const tickMs = 100;
const unavailable = 503;
/** Statuses from here on are refusals and errors. */
const refusedFrom = 400;
/**
 * A timer may be this late, because Node counts in whole ms, so the generator spins when a request is nearer. A
 * larger value would never let it sleep at a few hundred requests a second, on a core that the server may want.
 */
const spinMs = 1.2;
/** The longest time without a turn of the event loop, which other work of this process needs. */
const blindMs = 0.25;
/** The part of the lead between `beforeBegin` and the time. */
const preparedMs = 10;
/** How long answers are awaited after the end. They still count by their latency, not by the rate. */
const graceMs = 10_000;

export async function drive(options: DriveOptions): Promise<Driven> {
  const run = new Drive(options);
  try {
    return await run.run();
  } finally {
    run.close();
  }
}

/** Numbered, and not connected yet. */
export function connectionsTo({ host, port }: Pick<DriveOptions, 'host' | 'port'>, count: number): Connection[] {
  return Array.from({ length: count }, (_, number) => new Connection(host, port, number));
}

class Drive {
  readonly #options: DriveOptions;
  readonly #connections: readonly Connection[];
  readonly #endsConnections: boolean;
  readonly #outcomes: KindOutcome[];
  readonly #free: Connection[] = [];
  readonly #lag = new Latencies();
  #next: number;
  /** When the first request was due. */
  #firstMs = 0;
  #startMs = Number.POSITIVE_INFINITY;
  #endMs = Number.POSITIVE_INFINITY;
  #early = 0;
  #onWay = 0;
  #answers = 0;
  #isPrepared = false;
  /** Runs until the time begins. */
  #lead: NodeJS.Timeout | undefined;
  /** Runs until the time is over. */
  #end: NodeJS.Timeout | undefined;
  /** Runs once the time is over. */
  #grace: NodeJS.Timeout | undefined;
  #ended: () => void = () => undefined;

  constructor(options: DriveOptions) {
    this.#options = options;
    this.#next = options.first;
    const { connections } = options;
    this.#endsConnections = typeof connections === 'number';
    this.#connections = typeof connections === 'number' ? connectionsTo(options, connections) : connections;
    this.#outcomes = options.workload.kinds.map(({ name, items = 1 }) => ({
      name,
      items,
      answers: 0,
      latencies: new Latencies(),
      refusals: new Latencies(),
      statuses: new Map(),
      inTime: new Map(),
      withoutRetryAfter: 0,
    }));
  }

  async run(): Promise<Driven> {
    const { rate, first, leadMs = 0 } = this.#options;
    await Promise.all(this.#connections.map((connection) => connection.open()));
    for (const connection of this.#connections) connection.onAnswer = (...answer) => this.#answered(...answer);
    const ended = new Promise<void>((resolve) => {
      this.#ended = resolve;
    });
    if (leadMs > 0) this.#lead = setTimeout(() => this.#prepare(), Math.max(0, leadMs - preparedMs));
    else this.#begin();
    this.#firstMs = performance.now();
    const ticks = setInterval(() => this.#tick(), tickMs);
    if (rate === null) this.#fill();
    else this.#pace();
    const cut = (): void => {
      this.#begin();
      this.#endMs = Math.min(this.#endMs, performance.now());
      this.#over();
    };
    this.#options.until?.addEventListener('abort', cut);
    // It may have come while the connections were made.
    if (this.#options.until?.aborted) cut();
    await ended;
    clearInterval(ticks);
    clearTimeout(this.#end);
    clearTimeout(this.#grace);
    const unsent = this.#countUnsent();
    this.#countLost();
    const drivenS = (this.#endMs - this.#startMs) / 1000;
    const [sent, early] = [this.#next - first, this.#early];
    return { seconds: drivenS, kinds: this.#outcomes, sent, early, unsent, lag: this.#lag };
  }

  /** Closes the connections, and with them requests that are still not answered. */
  close(): void {
    for (const connection of this.#connections) if (this.#endsConnections || connection.busy) connection.close();
  }

  #prepare(): void {
    this.#isPrepared = true;
    this.#options.beforeBegin?.();
    this.#lead = setTimeout(() => this.#begin(), preparedMs);
  }

  #begin(): void {
    if (this.#startMs < Number.POSITIVE_INFINITY) return;
    clearTimeout(this.#lead);
    if (!this.#isPrepared) this.#options.beforeBegin?.();
    this.#options.onBegin?.();
    this.#startMs = performance.now();
    this.#endMs = this.#startMs + this.#options.seconds * 1000;
    this.#awaitEnd();
  }

  /** A timer may fire a little early, so it is set again until the time is over. */
  #awaitEnd(): void {
    const leftMs = this.#endMs - performance.now();
    if (leftMs > 0) this.#end = setTimeout(() => this.#awaitEnd(), Math.ceil(leftMs));
    else this.#over();
  }

  #over(): void {
    if (this.#grace === undefined) {
      this.#options.onOver?.();
      this.#grace = setTimeout(() => this.#ended(), graceMs);
    }
    if (this.#onWay === 0) this.#ended();
  }

  #tick(): void {
    const nowMs = performance.now();
    if (nowMs >= this.#startMs && nowMs <= this.#endMs)
      this.#options.onTick?.((nowMs - this.#startMs) / 1000, this.#answers);
  }

  #send(connection: Connection, dueMs: number): void {
    const { workload } = this.#options;
    const i = this.#next++;
    const kind = workload.kindAt === undefined ? 0 : workload.kindAt(i);
    connection.startedMs = dueMs;
    connection.kind = kind;
    this.#onWay++;
    connection.send(workload.kinds[kind]!.request(i, connection.number));
  }

  #answered(connection: Connection, status: number): void {
    const nowMs = performance.now();
    this.#onWay--;
    this.#count(connection, status, nowMs);
    if (nowMs >= this.#endMs) this.#over();
    else if (this.#options.rate === null) this.#send(connection, nowMs);
    else if (!this.#sendDue(connection)) this.#free.push(connection);
  }

  #count(connection: Connection, status: number, nowMs: number): void {
    const outcome = this.#outcomes[connection.kind]!;
    countOne(outcome.statuses, status);
    if (status === unavailable && !connection.saysWhenAgain) outcome.withoutRetryAfter++;
    if (nowMs < this.#startMs) {
      if (status !== noAnswer && !this.#isPrepared) this.#early++;
      return;
    }
    const isInTime = nowMs <= this.#endMs;
    if (isInTime) countOne(outcome.inTime, status);
    if (!this.#options.workload.kinds[connection.kind]!.expects.includes(status)) return;
    const latencies = status >= refusedFrom ? outcome.refusals : outcome.latencies;
    latencies.record(nowMs - connection.startedMs);
    if (!isInTime) return;
    outcome.answers++;
    this.#answers++;
  }

  /** Every answer of a closed loop sends the next request. */
  #fill(): void {
    for (const connection of this.#connections) this.#send(connection, performance.now());
    if (!this.#options.staysAwake) return;
    const sent = (): number => this.#next;
    const isOver = (): boolean => this.#grace !== undefined;
    stayAwake(sent, isOver);
  }

  /** When request number `i` is due in an open loop. */
  #dueMs(i: number): number {
    return this.#firstMs + ((i - this.#options.first) * 1000) / this.#options.rate!;
  }

  #sendDue(connection: Connection): boolean {
    const nowMs = performance.now();
    const dueMs = this.#dueMs(this.#next);
    if (dueMs > nowMs || dueMs >= this.#endMs) return false;
    if (this.#free.length > 0 && nowMs >= this.#startMs) this.#lag.record(nowMs - dueMs);
    this.#send(connection, dueMs);
    return true;
  }

  /** Sleeps until shortly before a request is due, then spins through the event loop, since a timer is too coarse. */
  #pace(): void {
    this.#free.push(...this.#connections);
    const step = (): void => {
      if (performance.now() >= this.#endMs) return;
      // First in, first out, so that no connection rests until the server closes it.
      while (this.#free.length > 0 && this.#sendDue(this.#free[0]!)) this.#free.shift();
      const dueMs = this.#dueMs(this.#next);
      const waitMs = dueMs - performance.now() - spinMs;
      if (waitMs >= 1) setTimeout(step, waitMs);
      else {
        // While nothing is on its way nothing will arrive, and a turn of the event loop would leave garbage for
        // nothing.
        const blindUntilMs = Math.min(dueMs, performance.now() + blindMs);
        do idle();
        while (this.#onWay === 0 && performance.now() < blindUntilMs);
        setImmediate(step);
      }
    };
    step();
  }

  #countUnsent(): number {
    if (this.#options.rate === null) return 0;
    let unsent = 0;
    // With a connection free, what was due in the last moment waited for the load itself.
    const wasFree = this.#free.length > 0;
    for (let i = this.#next; this.#dueMs(i) < this.#endMs; i++) {
      const waitedMs = this.#endMs - this.#dueMs(i);
      if (wasFree) {
        this.#lag.record(waitedMs);
        continue;
      }
      const kind = this.#options.workload.kindAt?.(i) ?? 0;
      this.#outcomes[kind]!.latencies.record(waitedMs);
      unsent++;
    }
    return unsent;
  }

  /** Counts the requests that are not answered even after the grace. */
  #countLost(): void {
    for (const connection of this.#connections) {
      if (!connection.busy) continue;
      countOne(this.#outcomes[connection.kind]!.statuses, noAnswer);
    }
  }
}

function countOne(counts: Map<number, number>, status: number): void {
  counts.set(status, (counts.get(status) ?? 0) + 1);
}

/**
 * Loads of a cell between two turns of the event loop: some 2.5 us that leave no garbage. Each turn and each reading
 * of the clock leaves some, and collecting it makes requests late.
 */
const idleLoads = 500;

const nothing = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/** Passes a moment. */
function idle(): void {
  for (let load = 0; load < idleLoads; load++) Atomics.load(nothing, 0);
}

/**
 * Turns through the event loop until it is over. `done` counts what came: in a turn in which something did no time is
 * passed, as more follows most often.
 */
function stayAwake(done: () => number, isOver: () => boolean): void {
  let before = done();
  const turn = (): void => {
    if (isOver()) return;
    const now = done();
    if (now === before) idle();
    before = now;
    setImmediate(turn);
  };
  turn();
}
