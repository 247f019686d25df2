/**
 * Loaded before all else. While little is going on V8 would give back some megabytes by a collection that also throws away the code of whatever
 * has no object just then, such as a read: a node that is asked again compiles for up to a tenth of a second, and its readers wait (decision
 * 208). A thread asks for it when it begins, which for workers is now; the main thread has it already, and waits with it from when its heap
 * has first grown by a megabyte, as it does while the other modules are loaded.
 */
import { setFlagsFromString } from 'node:v8';

setFlagsFromString('--no-memory-reducer');
// The longest that there is, 24 days.
setFlagsFromString(`--gc-memory-reducer-start-delay-ms=${2 ** 31 - 1}`);
