/**
 * Loaded before all else. While little is going on V8 would give back some megabytes by a collection that also throws away the code of whatever
 * has no object just then, such as a read: a node that is asked again compiles for up to a tenth of a second, and its readers wait (decision
 * 208). Whether it does is settled at the first full collection, which comes while the other modules are loaded.
 */
import { setFlagsFromString } from 'node:v8';

setFlagsFromString('--no-memory-reducer');
