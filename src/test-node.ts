/** The node that a test started: it ends as in a crash as soon as the process that started it is gone. */
import './main.js';

process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
