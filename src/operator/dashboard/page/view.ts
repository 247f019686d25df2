/** Declares the interface of a view and its context, and creates small elements that several views share. */
import { h } from './dom.js';
import { ago, asOf } from './format.js';
import type { Live } from './live.js';
import type { Peers } from './peers.js';

export interface ViewContext {
  readonly live: Live;
  readonly peers: Peers;
  /** The part of the address after the view's name. */
  readonly argument: string;
}

export interface View {
  readonly title: string;
  readonly element: HTMLElement;
  destroy?(): void;
}

/** The heading of a view, which receives the focus when the view opens. */
export function heading(title: string, ...actions: readonly (HTMLElement | null)[]): HTMLElement {
  const buttons = actions.filter((action) => action !== null);
  return h(
    'header',
    { class: 'view-head' },
    h('h1', { tabindex: -1 }, title),
    buttons.length > 0 && h('div', { class: 'actions' }, buttons),
  );
}

export function link(to: string, text: string, kind = ''): HTMLAnchorElement {
  return h('a', { href: `#/${to}`, class: kind === '' ? undefined : kind }, text);
}

/** A badge with a status or a verdict, with its colour and its word. */
export function badge(word: string, look: string = word): HTMLElement {
  return h('span', { class: `badge ${look}` }, word);
}

/** A relative time, with the exact one as a tooltip. */
export function time(iso: string): HTMLElement {
  return h('time', { datetime: iso, title: iso }, asOf(iso));
}

export function timeAgo(iso: string): HTMLElement {
  return h('time', { datetime: iso, title: asOf(iso) }, ago(iso, Date.now()));
}

/**
 * True if an area may be redrawn: the operator is not about to press a control in it, or to return to one from a
 * dialog.
 */
export function mayRedraw(area: HTMLElement): boolean {
  const active = document.activeElement;
  const isHeld = area.contains(active) && active?.tagName !== 'H1';
  return !isHeld && document.querySelector('dialog[open]') === null;
}

/** A share of the whole as a bar. The number stands beside it, so that the bar is hidden from screen readers. */
export function bar(share: number, kind = ''): HTMLElement {
  const inner = h('span', { class: `bar-fill ${kind}` });
  inner.style.setProperty('--share', `${Math.round(100 * Math.min(1, Math.max(0, share)))}%`);
  return h('span', { class: 'bar', 'aria-hidden': 'true' }, inner);
}
