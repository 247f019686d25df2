/** A process that has ended, as other starters of a folder see it. */
import { type ProcessIdentity, thisProcess } from '../../src/store/ownership/owner-record.js';

/** This process's number with another start: to every other starter a process that ended. */
export const deadProcess = (): ProcessIdentity => ({ ...thisProcess(), processStart: '1' });
