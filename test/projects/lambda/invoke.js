// Loads a bundle as Lambda does, and invokes it: node invoke.js ./dist/handler.cjs 202
const [, , bundle, expected] = process.argv;
const { handler } = await import(new URL(bundle, import.meta.url));
const { statusCode, body } = await handler({}, { getRemainingTimeInMillis: () => 3000 });
console.log(statusCode, body);
process.exitCode = statusCode === Number(expected) ? 0 : 1;
