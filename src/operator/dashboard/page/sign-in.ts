/** The sign-in form works without a script; this script only skips it for an operator who is signed in already. */

// If a link from another site led here, the cookie was not sent, but this call comes from our own page and sends it.
const answer = await fetch('./', { redirect: 'manual' }).catch(() => undefined);
if (answer?.ok === true) location.replace('./');

export {};
