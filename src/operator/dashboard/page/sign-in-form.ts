/** Skips the sign-in form for an operator who is signed in, and returns to the view that the address names. */

// If a link from another site led here, the cookie was not sent, but this call comes from our own page and sends it.
const answer = await fetch('./', { redirect: 'manual' }).catch(() => undefined);
if (answer?.ok === true) location.replace(`./${location.hash}`);
for (const form of document.forms) form.action += location.hash;

export {};
