/** Shows the players on the group's allow list, adds them, and takes them off. */
import type { Values } from '../../../../operations/table.js';
import { Loaded, type View, type ViewContext } from '../draw.js';
import { type Child, card, empty, hashForm, html, playerColumn, removeButton, table, time } from '../html.js';
import { command } from '../requests.js';
import { allowWithQuestion, disallowWithQuestion } from './player-dialogs.js';

const rowsMax = 200;
const none = empty('No player is on the list', 'Reads of a player on it are neutral until a date.');

export function allowView(_: ViewContext): View {
  const list = new Loaded(() => command('allow-list', { from: 0, limit: rowsMax }));
  const after = () => list.refresh({ force: true });

  function listOf({ data, next_from }: Values['allow-list']): Child {
    const remove = ({ subject_hash: hash }: (typeof data)[number]): Child =>
      removeButton(hash, () => void disallowWithQuestion(hash, after));
    return [
      table('Players on the allow list', data, ({ subject_hash }) => subject_hash, [
        playerColumn,
        { title: 'Until', cell: ({ until }) => time(until) },
        { title: 'Note', cell: ({ note }) => note },
        { title: '', number: true, cell: remove },
      ]) ?? none,
      next_from !== null && html`<p class="muted small">These are the first ${rowsMax}.</p>`,
    ];
  }

  const add = hashForm('Allow…', (hash) => void allowWithQuestion(hash, after));
  return {
    title: 'Allow list',
    lead: 'These players read as neutral until a date, whatever was reported.',
    refresh: () => list.refresh(),
    draw: () => html`<div class="grid">${card('Players', list.draw(listOf))}${card('Add a player', add)}</div>`,
  };
}
