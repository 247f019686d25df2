/**
 * The entry of a test's node: that of any node, but it ends like one that crashes as soon as the process that started
 * it is gone.
 */
import './main.js';

process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
