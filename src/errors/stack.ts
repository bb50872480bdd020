// A frame in a file of this package, installed or built. In a bundle of the user's there is none.
const ownFrame = /[\\/]postreel[\\/]dist[\\/](?:esm|cjs)[\\/]/;

/** A stack that begins with the caller's line: without the frames of this package in front of it. */
export function withoutOwnFrames(frames: readonly string[]): readonly string[] {
  const first = frames.findIndex((frame) => !ownFrame.test(frame));
  return first < 0 ? frames : frames.slice(first);
}
