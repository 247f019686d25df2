/** The documents of the dashboard, without script or style: the sign-in form, and the shell that modules fill. */
import type { GroupIdentity } from '../../group/api.js';
import { limits } from '../../limits.js';
import { plural } from '../../operations/text-table.js';

export type SignInNotice =
  | { readonly why: 'ended' | 'wrong' | 'unset' | 'name' | 'cross_site' }
  | { readonly why: 'too_many'; readonly retryAfterS: number };

function head(title: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" type="image/svg+xml" href="assets/icon.svg">
<link rel="stylesheet" href="assets/style.css">`;
}

export function signInPage({ groupId, environment }: GroupIdentity, notice?: SignInNotice, operator = ''): string {
  const invalid = notice?.why === 'wrong' ? ' aria-invalid="true" aria-describedby="notice"' : '';
  return `${head('Sign in · Peer Trust')}
<script type="module" src="assets/sign-in-form.js"></script>
</head>
<body class="sign-in">
<main>
<form method="post" action="sign-in" class="card sign-in-card">
<img src="assets/icon.svg" alt="" width="40" height="40">
<h1>Peer Trust</h1>
<p class="muted">Group <strong>${escaped(groupId)}</strong> · ${environment}</p>
${notice === undefined ? '' : `<p id="notice" class="notice notice-bad" role="alert">${noticeText(notice)}</p>`}
<label class="field"><span>Your name <small class="muted">optional, for the audit log</small></span>
<input name="operator" type="text" value="${escaped(operator)}" autocomplete="username" maxlength="${limits.operatorNameLength}" spellcheck="false"></label>
<label class="field"><span>Password</span>
<input name="password" type="password" autocomplete="current-password" required${invalid} autofocus></label>
<button class="button primary" type="submit">Sign in</button>
</form>
</main>
</body>
</html>
`;
}

const noticeTexts = {
  ended: 'Your session has ended. Sign in to return to the page.',
  wrong: 'The password is wrong.',
  unset: 'No password is set. On the node’s machine run <code>ptf dashboard set-password</code>.',
  name: `The name may have ${limits.operatorNameLength} characters, and no control or invisible ones.`,
  cross_site: 'Sign in from this page itself. If there is a proxy, check that it passes <code>Host</code> on.',
};

function noticeText(notice: SignInNotice): string {
  if (notice.why !== 'too_many') return noticeTexts[notice.why];
  return `Too many failed attempts. Try again in ${plural(Math.ceil(notice.retryAfterS / 60), 'minute')}, or run <code>ptf dashboard unlock</code> on the node’s machine.`;
}

export function appPage({ groupId }: GroupIdentity): string {
  return `${head(`${escaped(groupId)} · Peer Trust`)}
<link rel="stylesheet" href="assets/uPlot.min.css">
<script src="assets/uPlot.iife.min.js" defer></script>
<script src="assets/preact.min.umd.js" defer></script>
<script src="assets/htm.umd.js" defer></script>
<script type="module" src="assets/main.js"></script>
</head>
<body>
<a class="skip" href="#main" id="skip">Skip to content</a>
<div id="app"></div>
<noscript><p class="notice notice-bad">The dashboard needs JavaScript. The command <code>ptf</code> does the same without.</p></noscript>
</body>
</html>
`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (found) => `&#${found.charCodeAt(0)};`);
}
