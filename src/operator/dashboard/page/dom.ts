/** Creates elements; the page builds all of its content with it. Text stays text, and nothing is parsed as markup. */

export type Child = Node | string | number | null | undefined | false | readonly Child[];

/** Attributes; `true` sets an empty one, `false` and undefined omit it. */
type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false && value !== undefined) element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...nodesOf(children));
  return element;
}

function nodesOf(children: readonly Child[]): (Node | string)[] {
  return children.flatMap((child): (Node | string)[] => {
    if (child === null || child === undefined || child === false) return [];
    if (isList(child)) return nodesOf(child);
    return [typeof child === 'number' ? String(child) : child];
  });
}

function isList(child: Child): child is readonly Child[] {
  return Array.isArray(child);
}

export function fill(element: Element, ...children: readonly Child[]): void {
  element.replaceChildren(...nodesOf(children));
}

export function button(text: string, onClick: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const element = h('button', { type: 'button', class: 'button', ...attributes }, text);
  element.addEventListener('click', onClick);
  return element;
}

/** A labelled field. */
export function field(label: string, input: HTMLElement, hint?: string): HTMLLabelElement {
  return h('label', { class: 'field' }, h('span', {}, label), input, hint && h('small', { class: 'muted' }, hint));
}

export function card(title: string, ...children: readonly Child[]): HTMLElement {
  return h('section', { class: 'card' }, h('h2', {}, title), ...children);
}

export function empty(title: string, text: string): HTMLElement {
  return h('div', { class: 'empty' }, h('p', { class: 'empty-title' }, title), h('p', { class: 'muted' }, text));
}

/** Names and values, side by side. */
export function facts(rows: readonly (readonly [string, Child])[]): HTMLDListElement {
  return h(
    'dl',
    { class: 'facts' },
    rows.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))),
  );
}

/** A column of a table; `number` columns are aligned to the right. */
export interface Column {
  readonly title: string;
  readonly number?: boolean;
}

/** A table that becomes a list of cards on a narrow screen, where each cell shows its column's title. */
export function table(
  caption: string,
  columns: readonly Column[],
  rows: readonly (readonly Child[])[],
): HTMLTableElement {
  return h(
    'table',
    { class: 'table' },
    h('caption', { class: 'hidden' }, caption),
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        columns.map(({ title, number }) => h('th', { scope: 'col', class: number ? 'number' : undefined }, title)),
      ),
    ),
    h(
      'tbody',
      {},
      rows.map((cells) =>
        h(
          'tr',
          {},
          cells.map((cell, i) => tableCell(columns[i], cell)),
        ),
      ),
    ),
  );
}

function tableCell(column: Column | undefined, content: Child): HTMLTableCellElement {
  return h('td', { 'data-title': column?.title, class: column?.number ? 'number' : undefined }, content);
}
