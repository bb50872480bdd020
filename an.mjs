import { build } from 'esbuild';
const parts = process.argv.slice(2);
for (const part of parts) {
const r = await build({ stdin: { contents: `import './dist/esm/parts/${part}.js';`, resolveDir: process.cwd() }, bundle: true, write: false, metafile: true, format: 'esm', platform: 'browser', target: 'es2022', logLevel: 'error', tsconfigRaw: {}, ignoreAnnotations: false, external: ['ky','eventemitter3','p-retry','p-throttle','zod/mini'], plugins: [{ name: 'se', setup(b) { b.onResolve({ filter: /.*/ }, async (a) => { if (a.pluginData === 1 || a.kind === 'entry-point') return; if (!a.path.startsWith('.')) return; const res = await b.resolve(a.path, { resolveDir: a.resolveDir, kind: a.kind, importer: a.importer, pluginData: 1 }); return { ...res, sideEffects: a.importer.includes('stdin') || a.path.includes(part) }; }); } }] });
console.log('=====', part); const t = r.outputFiles[0].text; console.log(t.split('\n').filter(l => /^[^ }\])/]/.test(l)).join('\n').slice(0, 3500));
}
