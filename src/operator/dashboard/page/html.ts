/** Builds the page with htm, whose values stay text, and holds the elements that several views share. */
import { ago, asOf, head, localTime } from './format.js';

declare const htm: typeof import('htm').default;

export type Child = preact.ComponentChildren;

export const html = htm.bind(preact.h);

type Attributes = Readonly<Record<string, unknown>>;

export function button(text: string, onClick: () => void, attributes: Attributes = {}): Child {
  return html`<button type="button" class="button" onClick=${onClick} ...${attributes}>${text}</button>`;
}

export function removeButton(name: string, onClick: () => void): Child {
  return button('Remove…', onClick, { class: 'button small', 'aria-label': `Remove ${name}` });
}

interface Form {
  readonly class?: string;
  readonly role?: string;
  readonly action: string;
  readonly danger?: boolean;
  readonly disabled?: boolean;
  readonly busy?: boolean;
  readonly other?: Child;
  onSubmit(fields: FormData): void;
}

export function form(
  { action, danger, disabled, busy, other, onSubmit, ...attributes }: Form,
  ...fields: Child[]
): Child {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    onSubmit(new FormData(event.currentTarget as HTMLFormElement));
  };
  const look = `button ${danger ? 'danger' : 'primary'}`;
  return html`<form ...${attributes} onSubmit=${submit}>
    ${fields}
    <div class="actions">
      ${other}<button type="submit" class=${look} disabled=${disabled || busy} aria-busy=${busy}>${action}</button>
    </div>
  </form>`;
}

export function textOf(fields: FormData, name: string): string {
  return String(fields.get(name) ?? '').trim();
}

export function field(label: string, input: Child, hint?: string): Child {
  return html`<label class="field">
    <span>${label}</span>${input}${hint !== undefined && html`<small class="muted">${hint}</small>`}
  </label>`;
}

/** A choice of one of the peers; `none` is the first entry, with an empty value. */
export function peerChoice(
  name: string,
  peers: readonly { readonly peer_id: string; readonly peer_name: string }[],
  none: string,
  attributes: Attributes = {},
): Child {
  return html`<select name=${name} ...${attributes}>
    <option value="">${none}</option>
    ${peers.map(({ peer_id, peer_name }) => html`<option key=${peer_id} value=${peer_id}>${peer_name}</option>`)}
  </select>`;
}

const hashInput = html`<input name="hash" type="text" required pattern="[0-9A-Fa-f]{64}" maxlength="64"
  autocomplete="off" spellcheck=${false} title="64 hexadecimal characters" />`;

/** A form for the hash of a player, which is passed on in lower case. */
export function hashForm(action: string, onHash: (hash: string) => void, danger = false): Child {
  return form(
    { action, danger, onSubmit: (fields) => onHash(textOf(fields, 'hash').toLowerCase()) },
    field('Subject hash', hashInput, '64 hexadecimal characters. Look a player up to find it.'),
  );
}

export function card(title: string, ...children: Child[]): Child {
  return html`<section class="card"><h2>${title}</h2>${children}</section>`;
}

export function empty(title: string, text: string): Child {
  return html`<div class="empty"><p class="empty-title">${title}</p><p class="muted">${text}</p></div>`;
}

export const loading = html`<p class="muted">Loading…</p>`;

export function alert(text: string | null): Child {
  return text !== null && html`<p class="notice notice-bad" role="alert">${text}</p>`;
}

export function facts(rows: readonly (readonly [string, Child])[]): Child {
  return html`<dl class="facts">
    ${rows.map(
      ([name, value]) => value !== undefined && html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`,
    )}
  </dl>`;
}

export interface Column<T> {
  readonly title: string;
  readonly number?: boolean;
  readonly names?: boolean;
  /** Sorts by this column when its title is pressed; `sorted` is its present order. */
  readonly sort?: () => void;
  readonly sorted?: 'ascending' | 'descending' | undefined;
  readonly cell: (row: T) => Child;
}

/** A table that becomes a list of cards on a narrow screen. Null without rows. */
export function table<T>(
  caption: string,
  rows: readonly T[],
  keyOf: (row: T) => string | number,
  columns: readonly Column<T>[],
): Child {
  if (rows.length === 0) return null;
  const look = ({ number }: Column<T>): string | undefined => (number ? 'number' : undefined);
  const heads = columns.map((column) => {
    const { title, sort, sorted } = column;
    const content = sort === undefined ? title : button(title, sort, { class: 'button sorter' });
    return html`<th scope="col" class=${look(column)} aria-sort=${sorted}>${content}</th>`;
  });
  const cellOf = (column: Column<T>, row: T): Child =>
    column.names
      ? html`<th scope="row" data-title=${column.title}>${column.cell(row)}</th>`
      : html`<td data-title=${column.title} class=${look(column)}>${column.cell(row)}</td>`;
  return html`<table class="table">
    <caption class="hidden">${caption}</caption>
    <thead><tr>${heads}</tr></thead>
    <tbody>
      ${rows.map((row) => html`<tr key=${keyOf(row)}>${columns.map((column) => cellOf(column, row))}</tr>`)}
    </tbody>
  </table>`;
}

export function heading(title: string, ...actions: Child[]): Child {
  return html`<header class="view-head">
    <h1 tabindex="-1">${title}</h1>
    ${actions.length > 0 && html`<div class="actions">${actions}</div>`}
  </header>`;
}

export function focusHeading(): void {
  document.querySelector<HTMLElement>('main h1')?.focus();
}

export function link(to: string, text: string, attributes: Attributes = {}): Child {
  return html`<a href=${`#/${to}`} ...${attributes}>${text}</a>`;
}

/** A peer's name with the beginning of its id, because several may have one name; the id if the name is unknown. */
export function peerText(id: string, names: ReadonlyMap<string, string>): string {
  return names.has(id) ? `${names.get(id)} (${head(id)})` : id;
}

export function peerLink(id: string, names: ReadonlyMap<string, string>): Child {
  return link(`peers/${encodeURIComponent(id)}`, peerText(id, names));
}

export function badge(word: string, look: string = word): Child {
  return html`<span class=${`badge ${look}`}>${word}</span>`;
}

export const playerColumn: Column<{ readonly subject_hash: string }> = {
  title: 'Player',
  cell: ({ subject_hash: hash }) => html`<span title=${hash}>${link(`players/${hash}`, head(hash, 16))}</span>`,
};

export function time(iso: string): Child {
  return html`<time datetime=${iso} title=${localTime(iso)}>${asOf(iso)}</time>`;
}

export function timeAgo(iso: string): Child {
  return html`<time datetime=${iso} title=${asOf(iso)}>${ago(iso, Date.now())}</time>`;
}

/** A share of the whole as a bar. The number stands beside it, so that the bar is hidden from screen readers. */
export function bar(share: number, kind = '', style: Attributes = {}): Child {
  const percent = `${Math.round(100 * Math.min(1, Math.max(0, share)))}%`;
  return html`<span class="bar" aria-hidden="true" style=${style}>
    <span class=${`bar-fill ${kind}`} style=${{ '--share': percent }}></span>
  </span>`;
}
