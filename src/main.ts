/**
 * The entry of the node. It checks Node's version and sets V8's flags before it loads anything else, since loading makes the heap grow.
 */
import './require-node.js';
import './memory-reducer.js';

await import('./process.js');
