/** Shows the sources that peers may pass on, declares them, and removes them. */
import type { Values } from '../../../../operations/table.js';
import { ask } from '../dialog.js';
import { Loaded, type View, type ViewContext } from '../draw.js';
import { badge, type Child, card, empty, field, form, html, removeButton, table, textOf, time } from '../html.js';
import { command } from '../requests.js';

const looks = { declared: 'active', removed: 'neutral' } as const;
const nameInput = html`<input name="name" type="text" required maxlength="64" autocomplete="off" spellcheck=${false} />`;

const none = empty(
  'No origin is declared',
  'Declare a list that several peers import, so that it counts as one witness.',
);

type Origins = Values['origins-list']['data'];

export function originsView(_: ViewContext): View {
  const origins = new Loaded(async () => (await command('origins-list', {})).data);

  async function change(kind: 'add' | 'remove', name: string): Promise<void> {
    const isAdded = kind === 'add';
    await ask({
      title: isAdded ? `Declare ${name}?` : `Remove ${name}?`,
      body: html`<p>${
        isAdded
          ? 'Peers may then send events that name it. All of them about one player count as one witness.'
          : 'No further events that name it are accepted. Those that are stored stay as they are.'
      }</p>`,
      action: isAdded ? 'Declare' : 'Remove',
      run: () => command('origins-change', { change: kind, name }),
      notice: isAdded ? `${name} is declared.` : `${name} is removed.`,
      after: () => origins.refresh({ force: true }),
    });
  }

  function listOf(listed: Origins): Child {
    const remove = ({ name, status }: Origins[number]): Child =>
      status === 'declared' && removeButton(name, () => void change('remove', name));
    return (
      table('Origins', listed, ({ name }) => name, [
        { title: 'Name', names: true, cell: ({ name }) => name },
        { title: 'Status', cell: ({ status }) => badge(status, looks[status]) },
        { title: 'Weight', number: true, cell: ({ weight }) => weight.toFixed(3) },
        { title: 'Carried by', number: true, cell: ({ carriers }) => carriers.length },
        { title: 'Declared', cell: ({ declared_at }) => time(declared_at) },
        { title: '', number: true, cell: remove },
      ]) ?? none
    );
  }

  const add = form(
    { action: 'Declare…', onSubmit: (fields) => void change('add', textOf(fields, 'name')) },
    field('Name', nameInput, 'As peers write it in the field origin of an event.'),
  );
  return {
    title: 'Origins',
    lead: 'Sources that several peers pass on, such as a public ban list. One origin is one witness.',
    refresh: () => origins.refresh(),
    draw: () => html`<div class="grid">
      ${card('Origins', origins.draw(listOf))}${card('Declare an origin', add)}
    </div>`,
  };
}
