/**
 * The pages that are open: server-sent events to each of them, as long as its session lives and it reads what it is
 * sent.
 */
import type { ServerResponse } from 'node:http';
import { limits } from '../../limits.js';
import type { Session, Sessions } from './sessions/sessions.js';

interface Page {
  readonly response: ServerResponse;
  readonly session: Session;
  /** Of `performance.now()`. */
  sentAt: number;
}

export class LivePages {
  readonly #sessions: Sessions;
  readonly #pages = new Set<Page>();
  #timer: NodeJS.Timeout | undefined;

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
  }

  get open(): number {
    return this.#pages.size;
  }

  /** Whether there is room for one more. */
  get hasRoom(): boolean {
    return this.#pages.size < limits.livePagesMax;
  }

  /** Begins the answer to a page; it ends when the page leaves, its session ends, or it does not read. */
  add(response: ServerResponse, session: Session): void {
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      // nginx would gather what is meant to arrive at once.
      'X-Accel-Buffering': 'no',
    });
    const page = { response, session, sentAt: performance.now() };
    this.#pages.add(page);
    response.on('close', () => this.#pages.delete(page));
    // A page that lost the node comes back after this.
    response.write(`retry: ${limits.dashboardBeatMs}\n\n`);
    this.#timer ??= setInterval(() => this.#beat(), limits.dashboardBeatMs).unref();
  }

  send(event: string, value: unknown): void {
    this.#write(() => true, `event: ${event}\ndata: ${JSON.stringify(value)}\n\n`);
  }

  /** Ends the pages of sessions that are over, and writes to those that heard nothing for long. */
  #beat(): void {
    for (const page of this.#pages) if (!this.#sessions.isLive(page.session)) this.#end(page);
    const silentSince = performance.now() - limits.liveHeartbeatMs;
    this.#write(({ sentAt }) => sentAt < silentSince, ': still here\n\n');
  }

  close(): void {
    clearInterval(this.#timer);
    // Not that its session ended: a page comes back by itself, once there is a node again to tell it so.
    for (const { response } of this.#pages) response.end();
  }

  #write(to: (page: Page) => boolean, text: string): void {
    for (const page of this.#pages) {
      if (!to(page)) continue;
      page.sentAt = performance.now();
      page.response.write(text);
      // It does not read: what is kept for it must not grow.
      if (page.response.writableLength > limits.livePageBytesMax) page.response.destroy();
    }
  }

  #end(page: Page): void {
    this.#pages.delete(page);
    page.response.end('event: ended\ndata: {}\n\n');
  }
}
