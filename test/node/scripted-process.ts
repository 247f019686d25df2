/** Runs the process of a node, with a scripted node in place of the real one, and with bounds of the test. */
import { register } from 'node:module';
import { limits } from '../../src/limits.js';

const scripted = new URL('./scripted-node.js', import.meta.url).href;
const hooks = `export const resolve = (name, context, next) =>
  ['./node.js', './operator-access.js'].includes(name) && context.parentURL.endsWith('/src/node/process.js')
    ? { url: ${JSON.stringify(scripted)}, shortCircuit: true }
    : next(name, context);`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
Object.assign(limits, JSON.parse(process.env.TEST_BOUNDS ?? '{}'));

await import('../../src/node/process.js');
