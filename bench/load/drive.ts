/**
 * Drives a server with a workload from this thread. In a closed loop each connection sends its next request when the
 * last one is answered. In an open loop requests are due at a fixed rate, and a latency counts from the due time.
 */
import { Connection, noAnswer } from './connection.js';
import { Latencies } from './latency.js';

export interface Kind<Request extends string | Uint8Array = string | Uint8Array> {
  readonly name: string;
  /** Expected statuses: those of a success, and of refusals that the measurement provokes. */
  readonly expects: readonly number[];
  /**
   * Returns request number `i`, head and body. The same number gives the same request except for its peer. The number
   * of the free connection selects the peer, because each peer has its own connections, as a game server does.
   */
  request(i: number, connection: number): Request;
  /** Scores or events in one request, for rates that count them; 1 if absent. */
  readonly items?: number;
  /** Whether the items are events, which an answer acknowledges. */
  readonly stores?: true;
}

export interface Workload {
  readonly kinds: readonly Kind[];
  /** Returns the index of the kind of request number `i`. Absent: there is one kind. */
  kindAt?(i: number): number;
}

export interface DriveOptions {
  readonly host: string;
  readonly port: number;
  /** Number of connections, which the drive opens and closes, or connections of the caller, which stay open. */
  readonly connections: number | readonly Connection[];
  readonly seconds: number;
  /** Requests a second; null for a closed loop. */
  readonly rate: number | null;
  readonly workload: Workload;
  readonly first: number;
  /**
   * Load before the measured time, because a server accepts a connection with its first request. Answers in this lead
   * count only by their status. 0 if absent.
   */
  readonly leadMs?: number;
  /** Whether a closed loop polls without sleeping, for a load with its own core. An open loop hardly sleeps anyway. */
  readonly staysAwake?: boolean | undefined;
  readonly until?: AbortSignal | undefined;
  /**
   * Called shortly before the measured time. May block briefly: with a lead, delayed answers arrive before the time.
   */
  readonly beforeBegin?: () => void;
  /** Called when the measured time begins (without a lead, before the first request), and when it ends. */
  readonly onBegin?: () => void;
  readonly onOver?: () => void;
  /** Called about every `tickMs` with the number of answers so far. */
  readonly onTick?: (secondsIn: number, answers: number) => void;
}

export interface KindOutcome {
  readonly name: string;
  readonly items: number;
  /** Answers with an expected status within the measured time. */
  answers: number;
  readonly latencies: Latencies;
  readonly refusals: Latencies;
  /** Answers by status, expected ones included; `noAnswer` for broken connections. */
  readonly statuses: Map<number, number>;
  /** Answers by status, within the measured time only. */
  readonly inTime: Map<number, number>;
  withoutRetryAfter: number;
}

export interface Driven {
  /** Seconds as requested, or until the drive was ended. */
  readonly seconds: number;
  readonly kinds: readonly KindOutcome[];
  /** Requests sent; the next drive starts at `first + sent`. */
  readonly sent: number;
  /** Answers before the call of `beforeBegin`. */
  readonly early: number;
  /** Requests that were due but found no free connection before the end. Their wait so far counts as their latency. */
  readonly unsent: number;
  /** Delay of the load generator itself in an open loop: how late it sent requests for which a connection was free. */
  readonly lag: Latencies;
}

const tickMs = 100;
const unavailable = 503;
/** Statuses from here on are refusals and errors. */
const refusedFrom = 400;
/**
 * A timer may be this late, because Node counts whole ms, so the generator spins when the next request is nearer. With
 * a larger value it would never sleep at a few hundred requests a second, on a core that the server may need.
 */
const spinMs = 1.2;
/** The longest time without a turn of the event loop, which other work of this process needs. */
const blindMs = 0.25;
/** The part of the lead between `beforeBegin` and the measured time. */
const preparedMs = 10;
/** How long answers are awaited after the end. They count by latency and not in the rate. */
const graceMs = 10_000;

export async function drive(options: DriveOptions): Promise<Driven> {
  const run = new Drive(options);
  try {
    return await run.run();
  } finally {
    run.close();
  }
}

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
  #firstMs = 0;
  #startMs = Number.POSITIVE_INFINITY;
  #endMs = Number.POSITIVE_INFINITY;
  #early = 0;
  #onWay = 0;
  #answers = 0;
  #isPrepared = false;
  #lead: NodeJS.Timeout | undefined;
  #end: NodeJS.Timeout | undefined;
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
    // The abort may have come while the connections were opened.
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

  /** Closes the connections, including those with an unanswered request. */
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

  /** Sets the timer again until the time is over, because a timer may fire slightly early. */
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

  /** Sends the first request on every connection of a closed loop; each answer sends the next one. */
  #fill(): void {
    for (const connection of this.#connections) this.#send(connection, performance.now());
    if (!this.#options.staysAwake) return;
    const sent = (): number => this.#next;
    const isOver = (): boolean => this.#grace !== undefined;
    stayAwake(sent, isOver);
  }

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

  /** Sleeps until shortly before a request is due, then spins through the event loop, because a timer is too coarse. */
  #pace(): void {
    this.#free.push(...this.#connections);
    const step = (): void => {
      if (performance.now() >= this.#endMs) return;
      // First in, first out, so that no connection idles until the server closes it.
      while (this.#free.length > 0 && this.#sendDue(this.#free[0]!)) this.#free.shift();
      const dueMs = this.#dueMs(this.#next);
      const waitMs = dueMs - performance.now() - spinMs;
      if (waitMs >= 1) setTimeout(step, waitMs);
      else {
        // While no request is in flight, no answer can arrive, and a turn of the event loop would only create garbage.
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
    // If a connection is free, the requests that fell due last waited for the load generator itself.
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
 * Atomic loads between two turns of the event loop: about 2.5 us without garbage. Each turn and each clock read creates
 * some, and collecting it delays requests.
 */
const idleLoads = 500;

const nothing = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

function idle(): void {
  for (let load = 0; load < idleLoads; load++) Atomics.load(nothing, 0);
}

/**
 * Turns the event loop until `isOver`. `done` counts answers. A turn with an answer does not busy-wait, because more
 * answers usually follow.
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
