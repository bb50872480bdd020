// Parts of a client load from the disk when they are first needed, and the disk does not know
// about fake timers: a test that advances time would be over before the first retry begins.
import '../../src/transport/send/retries.js';
