/**
 * The entry of a test's node: it equals that of any node, but ends like a crash as soon as the process that started it
 * is gone.
 */
import './main.js';

process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
