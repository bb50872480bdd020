#!/usr/bin/env node
// This file imports nothing: an older Node would fail at an import before it could print the required
// version.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `postreel needs Node 20.19 or later; this is Node ${process.versions.node}. Install it from https://nodejs.org, or name a newer one in the settings of your client.`,
  );
  process.exitCode = 1;
} else {
  await import('./main.js');
}

export {};
