const { DefinePlugin } = require('webpack');

const { PUBLIC_KEY, BROWSER_BASE_URL } = process.env;
const values = { __PUBLIC_KEY__: PUBLIC_KEY, __BASE_URL__: BROWSER_BASE_URL };
const define = Object.entries(values).map(([name, value]) => [name, JSON.stringify(value)]);

module.exports = [
  { mode: 'production', target: 'node', entry: { server: './server.js', static: './static.js' } },
  {
    mode: 'production',
    target: 'web',
    entry: { page: './page.js' },
    plugins: [new DefinePlugin(Object.fromEntries(define))],
  },
];
