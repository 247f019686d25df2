/** The node that a test started: it ends as in a crash as soon as the process that started it is gone. */
const end = () => process.kill(process.pid, 'SIGKILL');
process.on('disconnect', end);
// The other process may have ended before this one listened.
if (!process.connected) end();

await import('../main.js');
