/** Shows short messages at the edge of the page, which screen readers announce and which disappear by themselves. */
import { h } from './dom.js';

const visibleMs = 6_000;

export const notices = h('div', { class: 'notices', role: 'status', 'aria-live': 'polite' });

export function notify(text: string, kind: 'good' | 'bad' = 'good'): void {
  const notice = h('p', { class: `notice notice-${kind}` }, text);
  notices.append(notice);
  setTimeout(() => notice.remove(), visibleMs);
}
