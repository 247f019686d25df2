/** A real Chromium for the dashboard's tests; whatever its console has to complain about is kept. */
import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { until } from '../../support/until.js';

/** A plot of weights takes up to 22 s until it has a line: a sample every ten, asked for every ten. */
const waitMs = 90_000;
const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Undefined where there is none. */
const chromiumPath = places.find((path) => existsSync(path));

export interface Seen {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors and warnings of the console (violations of the policy among them), and exceptions. */
  readonly complaints: string[];
}

/**
 * Calls `define`, which defines tests that need a browser, and runs the tests. `otherwise` says what stays untested
 * without one.
 */
export function testInBrowser(define: () => void, otherwise: string): void {
  if (chromiumPath === undefined) {
    process.stdout.write(`SKIPPED: chromium is not installed, so ${otherwise}\n`);
    test('without a browser the dashboard is tested by its server alone', () => assert.is(chromiumPath, undefined));
  } else {
    define();
  }
  test.run();
}

export async function startBrowser(): Promise<Browser> {
  // A test runs as whatever user there is, root in a container among them, for whom the sandbox does not start.
  return chromium.launch({ executablePath: chromiumPath ?? '', args: ['--no-sandbox'], timeout: waitMs });
}

export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<Seen> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(waitMs);
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  return { page, context, complaints };
}

/** Waits for the console's complaint of an answer with this status, which must be its only one, and takes it away. */
export async function complained({ complaints }: Seen, status: number): Promise<void> {
  await until(() => complaints.length > 0);
  const asExpected = complaints.splice(0).map((text) => new RegExp(`\\b${status}\\b`).test(text));
  assert.equal(asExpected, [true]);
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

/**
 * Boxes that hide what is too wide for them or let it be scrolled, but for texts that end in an ellipsis or are not for
 * the eye.
 */
export function cutBoxesOf(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll('body, body :not(input, select, textarea, .hidden)')]
    .filter((box) => {
      const { overflowX, textOverflow } = getComputedStyle(box);
      return box.checkVisibility() && overflowX !== 'visible' && textOverflow !== 'ellipsis' && box.scrollWidth > box.clientWidth;
    })
    .map((box) => box.cloneNode().outerHTML + ' ' + box.scrollWidth + ' > ' + box.clientWidth)`);
}

/** Badges that nobody can read whole: too small, cut by themselves or by what they stand in, or beside the window. */
export function cutBadgesOf(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll('.badge:not(:empty)')]
    .filter((badge) => {
      const { left, right, width, height } = badge.getBoundingClientRect();
      const isCutBy = (box) => {
        const { left: from, right: to } = box.getBoundingClientRect();
        return getComputedStyle(box).overflowX !== 'visible' && (left < from - 1 || right > to + 1);
      };
      const boxes = [];
      for (let box = badge.parentElement; box !== null; box = box.parentElement) boxes.push(box);
      return !badge.checkVisibility({ visibilityProperty: true, opacityProperty: true })
        || width === 0 || height === 0 || parseFloat(getComputedStyle(badge).fontSize) < 9
        || badge.scrollWidth > badge.clientWidth || left < 0 || right > innerWidth || boxes.some(isCutBy);
    })
    .map((badge) => badge.outerHTML)`);
}

/**
 * Texts with less contrast to their ground than the 4.5 to 1 of WCAG 2.2, 1.4.3, which asks nothing of what is
 * disabled.
 */
export function paleOf(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
    const pixel = (color) => {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
      return canvas.getImageData(0, 0, 1, 1).data;
    };
    const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    const light = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
    const ground = (element) => {
      const color = pixel(getComputedStyle(element).backgroundColor);
      return color[3] === 255 || element.parentElement === null ? color : ground(element.parentElement);
    };
    // Content of a translucent box shows the background behind the box.
    const through = (element, color) => {
      let seen = [...color];
      for (let box = element; box.parentElement !== null; box = box.parentElement) {
        const opacity = Number(getComputedStyle(box).opacity);
        if (opacity === 1) continue;
        const behind = ground(box.parentElement);
        seen = seen.map((value, i) => opacity * value + (1 - opacity) * behind[i]);
      }
      return seen;
    };
    const isText = (node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim() !== '';
    return [...document.querySelectorAll('body *')]
      .filter((element) => element.checkVisibility() && !element.matches(':disabled') && [...element.childNodes].some(isText))
      .filter((element) => {
        const colors = [pixel(getComputedStyle(element).color), ground(element)];
        const [dark, bright] = colors.map((color) => light(through(element, color))).sort((a, b) => a - b);
        return (bright + 0.05) / (dark + 0.05) < 4.5;
      })
      .map((element) => element.outerHTML);
  })()`);
}

/**
 * Waits until a plot has at least so many pixels of a colour, neither grey nor nothing. One script that looks by
 * itself: the page's policy forbids what `waitForFunction` does at a second look.
 */
export function drawn(page: Page, plot: string, pixelsMin: number): Promise<void> {
  return page.evaluate(`new Promise((resolve, reject) => {
    const started = performance.now();
    const look = () => {
      const canvas = document.querySelector('${plot} canvas');
      const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
      copy.drawImage(canvas, 0, 0);
      const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
      let coloured = 0;
      for (let i = 0; i < data.length; i += 4) {
        const [r, g, b, a] = data.slice(i, i + 4);
        if (a > 128 && Math.max(r, g, b) - Math.min(r, g, b) > 60) coloured++;
      }
      if (coloured >= ${pixelsMin}) resolve();
      else if (performance.now() - started > ${waitMs}) reject(new Error('${plot}: ' + coloured + ' coloured pixels'));
      else requestAnimationFrame(look);
    };
    look();
  })`);
}
