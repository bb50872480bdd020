// For the CommonJS build alone: Jest's jsdom has no TextEncoder, and ky wants one when it is loaded.
export const TextEncoder =
  globalThis.TextEncoder ??
  class {
    encode(text) {
      const bytes = unescape(encodeURIComponent(text.toWellFormed?.() ?? text));
      return Uint8Array.from(bytes, (byte) => byte.charCodeAt(0));
    }
  };
