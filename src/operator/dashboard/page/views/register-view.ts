/** Shows the hosted form, which registers a peer and shows its key once. */
import { showKey } from '../dialog.js';
import { notify, Task, type View, type ViewContext } from '../draw.js';
import { type Child, field, form, heading, html, link, textOf } from '../html.js';
import { command } from '../requests.js';

const nameInput = html`<input name="name" type="text" required maxlength="200" autocomplete="off" />`;
const contactInput = html`<input name="contact" type="email" maxlength="254" autocomplete="off" />`;
const gamesInput = html`<textarea name="games" required rows="3" spellcheck=${false}></textarea>`;

export function registerView({ peers }: ViewContext): View {
  const registration = new Task();

  async function register(fields: FormData): Promise<Child> {
    const game_ids = textOf(fields, 'games')
      .split(/\s*[\n,]\s*/)
      .filter((game) => game !== '');
    const contact = textOf(fields, 'contact');
    const peer = await command('peers-add', {
      peer_name: textOf(fields, 'name'),
      game_ids,
      ...(contact === '' ? {} : { contact_email: contact }),
    });
    const id = html`<p class="muted">Peer id <code>${peer.peer_id}</code></p>`;
    await showKey(`${peer.peer_name} is registered`, peer.api_key, id);
    // The page of the peer reads the list again if this fails: the form must not invite to register once more.
    await peers.reload().catch(() => undefined);
    notify(`${peer.peer_name} is registered.`);
    location.hash = `#/peers/${encodeURIComponent(peer.peer_id)}`;
    return null;
  }
  const onSubmit = (fields: FormData): void => void registration.run(() => register(fields));

  return {
    title: 'Register a peer',
    heading: () => [html`<p class="crumb">${link('peers', 'Peers')}</p>`, heading('Register a peer')],
    draw: () => html`<div class="narrow">
      ${form(
        { class: 'card form', action: 'Register', busy: registration.isBusy, onSubmit },
        field('Name', nameInput, 'The name of the peer as the group sees it.'),
        field('Games', gamesInput, 'Ids of the games for which it may submit events, one per line.'),
        field('Contact address', contactInput, 'Optional. The e-mail address of its operator; never public.'),
        registration.result,
      )}
    </div>`,
  };
}
