import { defineConfig } from 'vite'

/** Modules that the service serves by itself, shared with the page of a share link. */
const SERVED = ['/assets/maplibre-gl.mjs']

export default defineConfig({
  root: import.meta.dirname,
  base: '/app/',
  clearScreen: false,
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0, // What is inlined would need a wider policy.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { external: SERVED },
  },
})
