/** The entry of the node: V8 is set before anything else is so much as read, since it asks at its first full collection, which loading may bring. */
import './memory-reducer.js';

await import('./process.js');
