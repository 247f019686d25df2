/** The entry of the node: V8 is set before anything else is so much as read, since loading it makes the heap grow. */
import './memory-reducer.js';

await import('./process.js');
