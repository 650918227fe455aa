import { defineConfig } from 'vite'
import { cascadeLayers, scopedName } from './css-modules.ts'
import { firstPaint } from './first/plugin.ts'

/** Modules that the service serves by itself, shared with the page of a share link. */
const SERVED = ['/assets/maplibre-gl.mjs']

/** Parts of ui/ that bring a library, or that few screens need. */
const ON_DEMAND = 'auth-image|call-preview|charts|csv|dialog|is-phone|menu|more|next-item|pictures|place-beside|popover'

/** Few files before the first screen: each costs a request. What asks who is there is small and comes first. */
const GROUPS = [
  [
    'start',
    ['preload-helper', 'packages/client/src/(?!upload)', 'src/store', 'src/api/(session|recorder)\\.', 'node_modules/(react|scheduler)/'],
  ],
  [
    'frame',
    [
      'node_modules/(react-dom|@tanstack)/',
      `src/ui/(?!${ON_DEMAND})[^/]*\\.tsx?$`,
      'src/(ui|map|parts)/.*\\.module\\.css',
      'src/api/(query|client|problem)\\.',
      'src/shell/(first|lost)\\.',
    ],
  ],
  [
    'inside',
    [
      'src/shell/(inside|gate|shell|places|notification-menu|choose-organization)\\.',
      'src/state/(who|crumbs|url|cart)\\.',
      'src/api/live\\.',
      'src/ui/(menu|next-item|place-beside|popover)\\.tsx?$',
    ],
  ],
].map(([name, patterns], index, all) => ({
  name: String(name),
  test: new RegExp([patterns].flat().join('|')),
  priority: all.length - index,
}))

export default defineConfig({
  root: import.meta.dirname,
  base: '/app/',
  clearScreen: false,
  plugins: [cascadeLayers(), firstPaint()],
  css: { modules: { generateScopedName: scopedName } },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    cssCodeSplit: false, // One small file: each costs a request before the first screen.
    assetsInlineLimit: 0, // What is inlined would need a wider policy.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { external: SERVED, output: { codeSplitting: { groups: GROUPS } } },
  },
})
