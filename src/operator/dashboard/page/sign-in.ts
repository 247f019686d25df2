/** The form to sign in works without a script; this one only spares it whoever is signed in already. */

// The cookie is not sent where a link from elsewhere led here, but it is to this call, which comes from our own page.
const answer = await fetch('./', { redirect: 'manual' }).catch(() => undefined);
if (answer?.ok === true) location.replace('./');

export {};
