/**
 * How class names of CSS modules are written, and which style sheet wins. A class is called after its file, so that the page before the
 * console runs can use it and a person recognizes it in the browser: `.selected` of `chip.module.css` is `chip-selected`, and `.chip` is
 * `chip`. A style sheet belongs to the cascade layer of its folder: what stands higher in the layers of the code wins, whichever
 * file is loaded first.
 */
import path from 'node:path'
import type { Plugin } from 'vite'

const MODULE = /\/src\/(\w+)\/.*\.module\.css$/
const UTILITIES = /\/ui\/ui\.module\.css$/

/** Lowest first. `utilities` are the few classes that arrange and colour; a component may differ from them. */
const LAYERS = ['base', 'utilities', 'ui', 'map', 'parts', 'shell', 'screens']

/** Said first, wherever style sheets begin: the order in which layers are first named is the order in which they win. */
export const LAYER_ORDER = `@layer ${LAYERS.join(',')};`

const camel = (name: string) => name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

export function scopedName(local: string, file: string): string {
  const name = path.basename(file).replace(/\.module\.css.*$/, '')
  return local === camel(name) ? name : `${name}-${local}`
}

export function cascadeLayers(): Plugin {
  return {
    name: 'cascade-layers',
    enforce: 'pre',
    transform(code, id) {
      const [file] = id.split('?') as [string]
      if (file.endsWith('/styles/index.css')) return `${LAYER_ORDER}\n${code}`
      const folder = MODULE.exec(file)?.[1]
      if (folder === undefined) return null
      return `@layer ${UTILITIES.test(file) ? 'utilities' : folder} {\n${code}\n}\n`
    },
  }
}
