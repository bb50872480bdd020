// Preloaded into programs for a web page: the globals that the tracker needs of a page.
const page = new EventTarget();
// As in a browser, each entry is a property.
const storage = Object.create({
  getItem(key) {
    return Object.hasOwn(this, key) ? this[key] : null;
  },
  setItem(key, value) {
    this[key] = value;
  },
  removeItem(key) {
    Reflect.deleteProperty(this, key);
  },
});

/** The other tabs: there are none. */
class Channel {
  postMessage() {}
  close() {}
}

const globals = {
  document: new EventTarget(),
  closed: false,
  navigator: { onLine: true },
  location: new URL('https://shop.example/pricing'),
  history: new EventTarget(),
  BroadcastChannel: Channel,
  addEventListener: page.addEventListener.bind(page),
  removeEventListener: page.removeEventListener.bind(page),
  localStorage: storage,
};
for (const [name, value] of Object.entries(globals)) {
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}
