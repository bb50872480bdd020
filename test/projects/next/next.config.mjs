// The folder has a parent with a lock file of its own on some machines.
export default {
  turbopack: { root: import.meta.dirname },
  outputFileTracingRoot: import.meta.dirname,
};
