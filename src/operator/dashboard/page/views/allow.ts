/** Adds a player to the group's allow list or removes it, after a confirmation. */
import { command } from '../api.js';
import { ask } from '../dialog.js';
import { field, h } from '../dom.js';

/** Resolves with true if the player was added. */
export async function allowWithQuestion(subjectHash: string): Promise<boolean> {
  const until = h('input', { type: 'date', required: true });
  const note = h('input', { type: 'text', required: true, maxlength: 200, autocomplete: 'off' });
  return ask({
    title: 'Add this player to the allow list?',
    body: [
      h(
        'p',
        {},
        'The player reads as neutral up to the end of that day, whatever was reported. Reports are still accepted.',
      ),
      h('p', {}, h('code', { class: 'hash' }, subjectHash)),
      field('Until the end of (UTC)', until),
      field('Note', note, 'For operators only. It must not name the player.'),
    ],
    action: 'Allow',
    run: async () => {
      const end = `${until.value}T23:59:59.999Z`;
      await command('allow-add', { subject_hash: subjectHash, until: end, note: note.value.trim() });
    },
  });
}

/** Resolves with true if the player was removed. */
export function disallowWithQuestion(subjectHash: string): Promise<boolean> {
  return ask({
    title: 'Remove this player from the allow list?',
    body: [h('p', {}, 'The score and verdict of the player count again from now on.')],
    action: 'Remove from the list',
    run: async () => {
      await command('allow-remove', { subject_hash: subjectHash });
    },
  });
}
