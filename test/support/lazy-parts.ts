// Parts of a client load from the disk when they are first needed, and the disk does not know
// about fake timers: a test that advances time would be over before the first retry begins.
import '../../src/transport/send/retry.js';
import { waiting } from '../../src/polling/waits.js';
import { performing } from '../../src/transport/transport.js';

await performing.load();
await waiting.load();
