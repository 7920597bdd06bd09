// Makes one script of each application, and all files of a site.
import { readFile } from 'node:fs/promises';
import { build } from 'esbuild';
import { compile } from 'svelte/compiler';
import { build as buildSite } from 'vitepress';

const svelte = {
  name: 'svelte',
  setup(made) {
    made.onLoad({ filter: /\.svelte$/ }, async ({ path }) => {
      const compiled = compile(await readFile(path, 'utf8'), { filename: path, generate: 'client' });
      return { contents: compiled.js.code, loader: 'js' };
    });
  },
};
const shared = { bundle: true, minify: true, format: 'iife', conditions: ['browser', 'production'], legalComments: 'none' };
await build({ ...shared, entryPoints: ['svelte.js'], outfile: 'package/svelte.js', plugins: [svelte] });
await build({ ...shared, entryPoints: ['angular.js'], outfile: 'package/angular.js' });
await buildSite('orchard', { outDir: 'package/orchard' });
