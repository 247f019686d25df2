/** The `test` of uvu, for the tests whose name contains the text in TEST_NAME; the others are skipped. */
import { test as uvuTest } from 'uvu';

const wanted = process.env.TEST_NAME;

export const test = Object.assign(
  (name, handler) => (name.includes(wanted) ? uvuTest(name, handler) : uvuTest.skip(name, handler)),
  uvuTest,
);
