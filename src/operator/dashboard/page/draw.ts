/** Draws the whole page from the variables that hold its state. Code that changes one calls `redraw`. */
import { alert, type Child, heading, html, loading } from './html.js';
import type { Peers } from './listed-peers.js';
import type { Live } from './live-overview.js';
import { errorText } from './requests.js';

export interface ViewContext {
  readonly live: Live;
  readonly peers: Peers;
  /** The part of the address after the view's name. */
  readonly argument: string;
}

export interface View {
  readonly title: string;
  readonly lead?: string;
  heading?(): Child;
  draw(): Child;
  refresh?(): unknown;
}

/** Number of refreshes of a view per read of its plots. */
export const refreshesPerPlot = 5;

export function drawnView(view: View): Child {
  return html`<div>
    ${view.heading === undefined ? heading(view.title) : view.heading()}
    ${view.lead !== undefined && html`<p class="muted lead">${view.lead}</p>`}
    ${view.draw()}
  </div>`;
}

let drawPage: () => Child = drawnNotices;

export function startDrawing(page: () => Child): void {
  drawPage = page;
  redraw();
}

export function redraw(): void {
  preact.render(drawPage(), document.querySelector('#app') ?? document.body);
}

const visibleMs = 6_000;
let noticeCount = 0;
let notices: readonly Child[] = [];

/** Shows a short message at the edge of the page, which screen readers announce and which disappears by itself. */
export function notify(text: string, kind: 'good' | 'bad' = 'good'): void {
  const notice = html`<p key=${++noticeCount} class=${`notice notice-${kind}`}>${text}</p>`;
  notices = [...notices, notice];
  redraw();
  setTimeout(() => {
    notices = notices.filter((other) => other !== notice);
    redraw();
  }, visibleMs);
}

export function drawnNotices(): Child {
  return html`<div class="notices" role="status" aria-live="polite">${notices}</div>`;
}

/** Work that the operator starts, such as a computation, and what came of it, or why it failed. */
export class Task {
  isBusy = false;

  constructor(public result: Child = null) {}

  async run(work: () => Promise<Child>): Promise<void> {
    this.isBusy = true;
    redraw();
    this.result = await work().catch((error: unknown) => alert(errorText(error)));
    this.isBusy = false;
    redraw();
  }
}

/** A value that a view reads from the node, again and again, and the area of the page that shows it. */
export class Loaded<T> {
  #area: HTMLElement | null = null;
  value: T | undefined;
  #problem: string | null = null;
  /** Numbers of the newest read and of the one that is shown. */
  #begun = 0;
  #shown = 0;

  constructor(private readonly load: () => Promise<T>) {}

  /**
   * Resolves with true if this value or a newer one is shown. The old one stays while the operator is about to press a
   * control of the area, or to return to one from a dialog: the control must not move.
   */
  async refresh({ force = false } = {}): Promise<boolean> {
    const read = ++this.#begun;
    const [value, problem] = await this.load().then(
      (loaded) => [loaded, null] as const,
      (error: unknown) => [undefined, errorText(error)] as const,
    );
    // A read that began before the one shown would show what a change has replaced.
    if (read < this.#shown) return true;
    if (!force && this.#isHeld) return false;
    this.#shown = read;
    if (value !== undefined) this.value = value;
    this.#problem = problem;
    redraw();
    return problem === null;
  }

  /** Shows the value, below the reason if the last read failed. */
  draw(show: (value: T) => Child, waiting: Child = loading): Child {
    const content = this.value === undefined ? this.#problem === null && waiting : show(this.value);
    return html`<div ref=${this.#hold}>${alert(this.#problem)}${content}</div>`;
  }

  get #isHeld(): boolean {
    const active = document.activeElement;
    const isInside = this.#area?.contains(active) === true && active?.tagName !== 'H1';
    return isInside || document.querySelector('dialog[open]') !== null;
  }

  readonly #hold = (area: HTMLElement | null): void => {
    this.#area = area;
  };
}
