/** Puts a player on the group's allow list, or takes it off, after a question. */
import { command } from '../api.js';
import { ask } from '../dialog.js';
import { field, h } from '../dom.js';

/** Whether it was done. */
export async function allowWithQuestion(subjectHash: string): Promise<boolean> {
  const until = h('input', { type: 'date', required: true });
  const note = h('input', { type: 'text', required: true, maxlength: 200, autocomplete: 'off' });
  return ask({
    title: 'Put this player on the allow list?',
    body: [
      h(
        'p',
        {},
        'The player reads as neutral up to the end of that day, whatever was reported. Reports are still taken.',
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

/** Whether it was done. */
export function disallowWithQuestion(subjectHash: string): Promise<boolean> {
  return ask({
    title: 'Take this player off the allow list?',
    body: [h('p', {}, 'Its score and verdict count again from now on.')],
    action: 'Take off the list',
    run: async () => {
      await command('allow-remove', { subject_hash: subjectHash });
    },
  });
}
