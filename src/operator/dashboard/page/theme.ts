/**
 * Sets the theme of the page: light, dark, or that of the system. It is set before the first paint and stored in this
 * browser.
 */

const key = 'ptf-theme';
const themes = ['auto', 'light', 'dark'] as const;
type Theme = (typeof themes)[number];

/** A browser may forbid storage; a choice then lasts as long as the page. */
function stored(): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function show(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
}

export function theme(): Theme {
  return themes.find((name) => name === document.documentElement.dataset.theme) ?? 'auto';
}

/** Switches to the next theme and returns it. */
export function nextTheme(): Theme {
  const next = themes[(themes.indexOf(theme()) + 1) % themes.length] ?? 'auto';
  show(next);
  try {
    localStorage.setItem(key, next);
  } catch {
    // The theme is applied nevertheless.
  }
  return next;
}

show(themes.find((name) => name === stored()) ?? 'auto');
