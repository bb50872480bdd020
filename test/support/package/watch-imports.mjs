// Preloaded with `--import`: records each loaded module, and every effect that an import must not
// have. Afterwards `globalThis[Symbol.for('postreel.watched')]()` returns the record.
import console from 'node:console';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import * as modules from 'node:module';
import { join } from 'node:path';
import process from 'node:process';

const notes = join(process.cwd(), `loaded-${process.pid}`);
writeFileSync(notes, '');

// Hooks in the same thread see require() too; older versions of Node run hooks in a worker.
if (modules.registerHooks) {
  modules.registerHooks({
    load(url, context, next) {
      appendFileSync(notes, `${url}\n`);
      return next(url, context);
    },
  });
} else {
  const source = `
    import { appendFileSync } from 'node:fs';
    export async function load(url, context, next) {
      appendFileSync(${JSON.stringify(notes)}, url + '\\n');
      return next(url, context);
    }`;
  modules.register(`data:text/javascript,${encodeURIComponent(source)}`);
}

const deeds = [];
for (const name of ['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'fetch']) {
  const original = globalThis[name];
  globalThis[name] = (...args) => {
    deeds.push(name);
    return original(...args);
  };
}
for (const name of ['log', 'info', 'warn', 'error', 'debug']) {
  const original = console[name];
  console[name] = (...args) => {
    deeds.push(`console.${name}`);
    return original(...args);
  };
}
const env = process.env;
process.env = new Proxy(env, {
  get(target, name) {
    // Node itself reads these two while it loads modules.
    if (!/^(NODE_|WATCH_)/.test(String(name))) {
      deeds.push(`process.env.${String(name)}`);
    }
    return target[name];
  },
});

/** Every global, with the own properties of its value and of the value's prototype. */
function look() {
  const seen = new Map();
  for (const name of Reflect.ownKeys(globalThis)) {
    const value = globalThis[name];
    seen.set(name, value);
    if (typeof value !== 'function' || !value.prototype) {
      continue;
    }
    for (const owner of [value, value.prototype]) {
      for (const key of Reflect.ownKeys(owner)) {
        const own = Reflect.getOwnPropertyDescriptor(owner, key);
        seen.set(`${String(name)}${owner === value ? '' : '.prototype'}.${String(key)}`, own);
      }
    }
  }
  return seen;
}

const same = (a, b) =>
  Object.is(a, b) ||
  (typeof a === 'object' && Object.is(a?.value, b?.value) && Object.is(a?.get, b?.get));

look(); // makes Node load its lazy globals
const before = look();
const resources = process.getActiveResourcesInfo();
deeds.length = 0;

globalThis[Symbol.for('postreel.watched')] = () => {
  const done = [...deeds];
  const after = look();
  after.delete(Symbol.for('postreel.watched'));
  const changed = [...after].filter(([name, value]) => !same(before.get(name), value));
  // Hooks in a worker do not see the modules that CommonJS requires.
  const required = modules.registerHooks
    ? []
    : Object.keys(modules.createRequire(import.meta.url).cache);
  return {
    deeds: done,
    globals: changed.map(([name]) => String(name)),
    resources: process.getActiveResourcesInfo().filter((name) => !resources.includes(name)),
    loaded: [...readFileSync(notes, 'utf8').split('\n'), ...required],
  };
};
