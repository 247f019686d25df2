/** Opens dialogs: one asks before a change, and one shows a secret once. The browser keeps the focus within them. */
import { notify, redraw, Task } from './draw.js';
import { button, type Child, form, html } from './html.js';

interface Question<T> {
  readonly title: string;
  readonly body: Child;
  readonly action: string;
  readonly danger?: boolean;
  /** Carries out the change; the dialog is disabled meanwhile, and shows the error if the promise rejects. */
  run(fields: FormData): Promise<T>;
  readonly notice?: string;
  after?(result: T): unknown;
}

interface Open {
  readonly title: string;
  readonly mayCancel: () => boolean;
  readonly draw: (close: () => void) => Child;
  readonly onClose: () => void;
}

let open: Open | null = null;
let element: HTMLDialogElement | null = null;

function show(title: string, mayCancel: () => boolean, draw: Open['draw']): Promise<void> {
  // Stored before the dialog takes the focus: the browser cannot restore it once the element is removed.
  const opener = document.activeElement;
  return new Promise((resolve) => {
    const onClose = (): void => {
      open = null;
      redraw();
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
      resolve();
    };
    open = { title, mayCancel, draw, onClose };
    redraw();
  });
}

export function drawnDialog(): Child {
  if (open === null) return null;
  const { title, mayCancel, draw, onClose } = open;
  const cancel = (event: Event): void => {
    if (!mayCancel()) event.preventDefault();
  };
  // Chromium asks only once whether Escape may close a dialog.
  const on = { ref: opened, closedby: mayCancel() ? 'closerequest' : 'none', onCancel: cancel, onClose };
  return html`<dialog class="dialog" aria-labelledby="dialog-title" ...${on}>
    <h2 id="dialog-title">${title}</h2>
    ${draw(() => element?.close())}
  </dialog>`;
}

function opened(dialog: HTMLDialogElement | null): void {
  element = dialog;
  if (dialog?.open === false) dialog.showModal();
}

/** Resolves with what the change came to; with undefined if it was not carried out. */
export async function ask<T>(question: Question<T>): Promise<T | undefined> {
  const { title, body, action, danger = false, notice } = question;
  let result: T | undefined;
  const change = new Task();
  const draw: Open['draw'] = (close) => {
    const other = button('Cancel', close, { disabled: change.isBusy });
    const run = async (fields: FormData): Promise<Child> => {
      result = await question.run(fields);
      close();
      return null;
    };
    const onSubmit = (fields: FormData): void => void change.run(() => run(fields));
    return form({ action, danger, busy: change.isBusy, other, onSubmit }, body, change.result);
  };
  await show(title, () => !change.isBusy, draw);
  if (result === undefined) return undefined;
  if (notice !== undefined) notify(notice);
  await question.after?.(result);
  return result;
}

/** Shows an API key once. The page does not contain it any more when the dialog is closed. */
export function showKey(title: string, apiKey: string, more: Child = null): Promise<void> {
  let said = '';
  const copy = async (): Promise<void> => {
    said = await copyFrom(document.querySelector('dialog .secret'));
    redraw();
  };
  const draw: Open['draw'] = (close) => html`${more}
    <p>
      This is the only time that the key is shown; the node keeps a hash of it. Put it into the peer’s secrets store
      now.
    </p>
    <code class="secret" tabindex="0" aria-label="API key">${apiKey}</code>
    <div class="actions">
      <span role="status" class="muted">${said}</span>
      ${button('Copy', () => void copy())}
      ${button('I have stored it', close, { class: 'button primary' })}
    </div>`;
  // If Escape closed the dialog, the key would be lost and have to be rotated.
  return show(title, () => false, draw);
}

export class Copied extends preact.Component<{ readonly text: string }, { readonly said: string }> {
  override state = { said: '' };
  readonly #element = preact.createRef<HTMLElement>();

  override render(): Child {
    const copy = async (): Promise<void> => this.setState({ said: await copyFrom(this.#element.current) });
    return html`<span class="copied">
      <code class="hash" ref=${this.#element}>${this.props.text}</code>
      ${button('Copy', () => void copy(), { class: 'button small' })}
      <span role="status" class="muted small">${this.state.said}</span>
    </span>`;
  }
}

/** Without TLS there is no clipboard; the text is then selected, so that a key press copies it. */
async function copyFrom(element: Element | null): Promise<string> {
  try {
    await navigator.clipboard.writeText(element?.textContent ?? '');
    return 'Copied.';
  } catch {
    if (element !== null) getSelection()?.selectAllChildren(element);
    return 'Marked: press Ctrl+C.';
  }
}
