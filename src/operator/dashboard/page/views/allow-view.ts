/** Shows the players on the group's allow list, adds them, and takes them off. */
import type { Values } from '../../../../operations/table.js';
import { Loaded, notify, type View, type ViewContext } from '../draw.js';
import {
  type Child,
  card,
  empty,
  field,
  form,
  hashInput,
  heading,
  html,
  playerLink,
  removeButton,
  table,
  textOf,
  time,
} from '../html.js';
import { command } from '../requests.js';
import { allowWithQuestion, disallowWithQuestion } from './player-dialogs.js';

const rowsMax = 200;

export function allowView(_: ViewContext): View {
  const list = new Loaded(() => command('allow-list', { from: 0, limit: rowsMax }));

  async function change(done: Promise<boolean>, text: string): Promise<void> {
    if (!(await done)) return;
    notify(text);
    await list.refresh({ force: true });
  }

  function listOf({ data, next_from }: Values['allow-list']): Child {
    if (data.length === 0)
      return empty('No player is on the list', 'Reads of a player on it are neutral until a date.');
    const remove = ({ subject_hash: hash }: (typeof data)[number]): Child =>
      removeButton(hash, () => void change(disallowWithQuestion(hash), 'The player is off the list.'));
    return [
      table('Players on the allow list', data, ({ subject_hash }) => subject_hash, [
        {
          title: 'Player',
          cell: ({ subject_hash }) => playerLink(subject_hash),
        },
        { title: 'Until', cell: ({ until }) => time(until) },
        { title: 'Note', cell: ({ note }) => note },
        { title: '', number: true, cell: remove },
      ]),
      next_from !== null && html`<p class="muted small">These are the first ${rowsMax}.</p>`,
    ];
  }

  const add = form(
    {
      action: 'Allow…',
      onSubmit: (fields) =>
        void change(allowWithQuestion(textOf(fields, 'hash').toLowerCase()), 'The player is on the list.'),
    },
    field('Subject hash', hashInput, '64 hexadecimal characters. Look a player up to find it.'),
  );
  return {
    title: 'Allow list',
    refresh: () => list.refresh(),
    draw: () => html`<div>
      ${heading('Allow list')}
      <p class="muted lead">These players read as neutral until a date, whatever was reported.</p>
      <div class="grid">${card('Players', list.draw(listOf))}${card('Add a player', add)}</div>
    </div>`,
  };
}
