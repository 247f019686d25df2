/** Sends server-sent events to the open pages, to each while its session lives and it reads its stream. */
import type { ServerResponse } from 'node:http';
import { limits } from '../../limits.js';
import type { Session, Sessions } from './sessions/sessions.js';

interface Page {
  readonly response: ServerResponse;
  readonly session: Session;
  /** Time by `performance.now()`. */
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

  get hasRoom(): boolean {
    return this.#pages.size < limits.livePagesMax;
  }

  /** Begins the stream to a page; the stream ends when the page disconnects, its session ends, or it stops reading. */
  add(response: ServerResponse, session: Session): void {
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      // Without this header, nginx would buffer the events.
      'X-Accel-Buffering': 'no',
    });
    const page = { response, session, sentAt: performance.now() };
    this.#pages.add(page);
    response.on('close', () => this.#pages.delete(page));
    // A page that loses the node reconnects after this time.
    response.write(`retry: ${limits.dashboardBeatMs}\n\n`);
    this.#timer ??= setInterval(() => this.#beat(), limits.dashboardBeatMs).unref();
  }

  send(event: string, value: unknown): void {
    this.#write(() => true, `event: ${event}\ndata: ${JSON.stringify(value)}\n\n`);
  }

  /** Ends the streams of expired sessions, and writes to pages without a recent event. */
  #beat(): void {
    for (const page of this.#pages) if (!this.#sessions.isLive(page.session)) this.#end(page);
    const silentSince = performance.now() - limits.liveHeartbeatMs;
    this.#write(({ sentAt }) => sentAt < silentSince, ': still here\n\n');
  }

  close(): void {
    clearInterval(this.#timer);
    // No event announces the end of the session: a page reconnects by itself once the node is back, and then finds out
    // whether its session still exists.
    for (const { response } of this.#pages) response.end();
  }

  #write(to: (page: Page) => boolean, text: string): void {
    for (const page of this.#pages) {
      if (!to(page)) continue;
      page.sentAt = performance.now();
      page.response.write(text);
      // The page does not read: its buffer must not grow.
      if (page.response.writableLength > limits.livePageBytesMax) page.response.destroy();
    }
  }

  #end(page: Page): void {
    this.#pages.delete(page);
    page.response.end('event: ended\ndata: {}\n\n');
  }
}
