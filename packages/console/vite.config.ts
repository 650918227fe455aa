import { defineConfig } from 'vite'
import { firstPaint } from './first/plugin.ts'

/** Modules that the service serves by itself, shared with the page of a share link. */
const SERVED = ['/assets/maplibre-gl.mjs']

/** Few files before the first screen: each costs a request. What asks who is there is small and comes first. */
const GROUPS = [
  {
    name: 'start',
    test: /preload-helper|packages\/client\/src\/(?!upload)|console\/src\/api\/(session|recorder)\.|node_modules\/(react|scheduler)\//,
  },
  {
    name: 'frame',
    test: /node_modules\/(react-dom|@tanstack)\/|src\/(api|ui|shell)\/(query|client|problem|kit|icons|states|toasts|format|first|lost)\./,
  },
  { name: 'kit', test: /node_modules\/@(mantine|floating-ui)\// },
  {
    name: 'inside',
    test: /src\/(shell\/(inside|gate|shell|notification-menu|who|crumbs|keys|theme|url)|api\/live|screens\/(choose|explore\/cart))\./,
  },
].map((group, index, all) => ({ ...group, priority: all.length - index }))

export default defineConfig({
  root: import.meta.dirname,
  base: '/app/',
  clearScreen: false,
  plugins: [firstPaint()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0, // What is inlined would need a wider policy.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { external: SERVED, output: { codeSplitting: { groups: GROUPS } } },
  },
})
