/** Absent in an insecure context and in old browsers, whatever the types say. */
export const locks = (): LockManager | undefined => navigator.locks;
