/** Shows the hosted form, which registers a peer and shows its key once. */
import type { RegisteredValue } from '../../wire.js';
import { errorText, post } from '../api.js';
import { showKey } from '../dialog.js';
import { field, fill, h } from '../dom.js';
import { notify } from '../notice.js';
import { heading, link, type View, type ViewContext } from '../view.js';

export function registerView({ peers }: ViewContext): View {
  const name = h('input', { type: 'text', required: true, maxlength: 200, autocomplete: 'off' });
  const games = h('textarea', { required: true, rows: 3, spellcheck: 'false' });
  const problem = h('p', { class: 'notice notice-bad', role: 'alert', hidden: true });
  const submit = h('button', { type: 'submit', class: 'button primary' }, 'Register');
  const form = h(
    'form',
    { class: 'card form' },
    field('Name', name, 'The name of the peer as the group sees it.'),
    field('Games', games, 'Ids of the games for which it may submit events, one per line.'),
    problem,
    h('div', { class: 'actions' }, submit),
  );

  async function register(): Promise<void> {
    const game_ids = games.value
      .split(/[\n,]/)
      .map((game) => game.trim())
      .filter((game) => game !== '');
    submit.disabled = true;
    problem.hidden = true;
    try {
      const peer = await post<RegisteredValue>('api/v1/peers/register', { peer_name: name.value.trim(), game_ids });
      await showKey(
        `${peer.peer_name} is registered`,
        peer.api_key,
        h('p', { class: 'muted' }, 'Peer id ', h('code', {}, peer.peer_id)),
      );
      await peers.reload();
      notify(`${peer.peer_name} is registered.`);
      location.hash = `#/peers/${encodeURIComponent(peer.peer_id)}`;
    } catch (error) {
      problem.hidden = false;
      fill(problem, errorText(error));
      submit.disabled = false;
    }
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void register();
  });
  const element = h(
    'div',
    { class: 'narrow' },
    h('p', { class: 'crumb' }, link('peers', 'Peers')),
    heading('Register a peer'),
    form,
  );
  return { title: 'Register a peer', element };
}
