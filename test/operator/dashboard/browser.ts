/** A real Chromium for the dashboard's tests; whatever its console has to complain about is kept. */
import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Undefined where there is none. */
export const chromiumPath = places.find((path) => existsSync(path));

export interface Seen {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors and warnings of the console (violations of the policy among them), and exceptions. */
  readonly complaints: string[];
}

export async function startBrowser(executablePath: string): Promise<Browser> {
  // A test runs as whatever user there is, root in a container among them, for whom the sandbox does not start.
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}

export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<Seen> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  return { page, context, complaints };
}

/** By how many pixels the page is wider than its window. */
export function overflowOf(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}

/** Fields without a name, and images without a text: what a screen reader could not tell. */
export function namelessOf(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll('input, select, textarea, button, a, img, dialog')]
    .filter((element) => !(element.labels?.length > 0 || element.textContent.trim() !== '' || element.hasAttribute('alt')
      || element.hasAttribute('aria-label') || element.hasAttribute('aria-labelledby')))
    .map((element) => element.outerHTML)`);
}

/** Script that tells whether a plot has at least so many pixels of a colour, neither grey nor nothing. */
export function isDrawn(plot: string, pixelsMin: number): string {
  return `(() => {
    const canvas = document.querySelector('${plot} canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let coloured = 0;
    for (let i = 0; i < data.length; i += 4) {
      const [r, g, b, a] = data.slice(i, i + 4);
      if (a > 128 && Math.max(r, g, b) - Math.min(r, g, b) > 60) coloured++;
    }
    return coloured >= ${pixelsMin};
  })()`;
}
