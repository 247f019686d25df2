/** Opens dialogs: one asks before a change, and one shows a secret once. The browser keeps the focus within them. */
import { errorText } from './api.js';
import { button, type Child, fill, h } from './dom.js';

interface Question {
  readonly title: string;
  readonly body: readonly Child[];
  /** Label of the confirming button. */
  readonly action: string;
  readonly danger?: boolean;
  /** Carries out the change; the dialog is disabled meanwhile, and shows the error if the promise rejects. */
  run(): Promise<void>;
}

let dialogs = 0;

function open(title: string, ...children: readonly Child[]): HTMLDialogElement {
  const id = `dialog-${++dialogs}`;
  const dialog = h('dialog', { class: 'dialog', 'aria-labelledby': id }, h('h2', { id }, title), ...children);
  // Stored before the dialog takes the focus: the browser cannot restore it once the element is removed.
  const opener = document.activeElement;
  dialog.addEventListener('close', () => {
    dialog.remove();
    if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Resolves with true if the change was carried out. */
export function ask({ title, body, action, danger = false, run }: Question): Promise<boolean> {
  return new Promise((resolve) => {
    let done = false;
    const problem = h('p', { class: 'notice notice-bad', role: 'alert', hidden: true });
    const cancel = button('Cancel', () => dialog.close());
    const submit = h('button', { type: 'submit', class: `button ${danger ? 'danger' : 'primary'}` }, action);
    const form = h('form', { method: 'dialog' }, ...body, problem, h('div', { class: 'actions' }, cancel, submit));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void go();
    });
    const dialog = open(title, form);
    dialog.addEventListener('cancel', (event) => {
      if (submit.disabled) event.preventDefault();
    });
    dialog.addEventListener('close', () => resolve(done));

    async function go(): Promise<void> {
      busy(true);
      try {
        await run();
        done = true;
        dialog.close();
      } catch (error) {
        problem.hidden = false;
        fill(problem, errorText(error));
        busy(false);
      }
    }

    function busy(is: boolean): void {
      submit.disabled = is;
      cancel.disabled = is;
      submit.setAttribute('aria-busy', String(is));
    }
  });
}

/** Shows an API key once. The page does not contain it any more when the dialog is closed. */
export function showKey(title: string, apiKey: string, more: Child = null): Promise<void> {
  return new Promise((resolve) => {
    const key = h('code', { class: 'secret', tabindex: 0, 'aria-label': 'API key' }, apiKey);
    const said = h('span', { role: 'status', class: 'muted' });
    const close = button('I have stored it', () => dialog.close(), { class: 'button primary' });
    const copy = button('Copy', () => void copyFrom(key).then((text) => fill(said, text)));
    const dialog = open(
      title,
      more,
      h(
        'p',
        {},
        'This is the only time that the key is shown; the node keeps a hash of it. Put it into the peer’s secrets store now.',
      ),
      key,
      h('div', { class: 'actions' }, said, copy, close),
    );
    // If Escape closed the dialog, the key would be lost and have to be rotated.
    dialog.addEventListener('cancel', (event) => event.preventDefault());
    dialog.addEventListener('close', () => resolve());
  });
}

/**
 * Copies an element's text. Pages without TLS cannot use the clipboard; the text is then selected, so that a key press
 * copies it.
 */
export async function copyFrom(element: HTMLElement): Promise<string> {
  const text = element.textContent ?? '';
  try {
    await navigator.clipboard.writeText(text);
    return 'Copied.';
  } catch {
    const selection = getSelection();
    selection?.selectAllChildren(element);
    return 'Marked: press Ctrl+C.';
  }
}
