/**
 * The first paint needs the page alone: its styles and its two scripts stand in the page, the stylesheet and the modules behind it.
 * The service allows what stands there by its hash.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Plugin, Rolldown } from 'vite'
import { LAYER_ORDER } from '../css-modules.ts'
import { stylesFor } from './styles.ts'

/** Screens that people come to from outside: their chunks are asked for beside the console's, not after it. */
const SCREENS: Readonly<Record<string, string>> = { auth: 'sign-in', explore: 'explore', library: 'library', view: 'viewer' }
/** What every screen behind the sign-in needs. */
const INSIDE = 'inside'
const WITH_MAP = ['explore', 'view']
const MAP = ['/assets/maplibre-gl.mjs', '/assets/maplibre-gl.css']
const SCRIPTS = ['before-paint.js', 'first-input.js']
const STYLESHEET = /\s*<link rel="stylesheet"[^>]*href="\/app\/(assets\/style-[^"]+\.css)"[^>]*>/

const inline = (name: string) =>
  readFileSync(path.join(import.meta.dirname, name), 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('//'))
    .join('\n')

/** A chunk by its name, and what it needs before it runs. */
function filesOf(bundle: Rolldown.OutputBundle, name: string): string[] {
  const chunks = Object.values(bundle).filter((output) => output.type === 'chunk')
  const needed = new Set<string>()
  const add = (file: string) => {
    const chunk = chunks.find(({ fileName }) => fileName === file)
    if (!chunk || needed.has(file)) return
    needed.add(file)
    chunk.imports.forEach(add)
  }
  const wanted = chunks.find((chunk) => chunk.isDynamicEntry && chunk.name === name)
  if (!wanted) throw new Error(`The console has no chunk ${name}`)
  add(wanted.fileName)
  return [...needed]
}

/** The console itself for everybody, each screen for who comes to it. */
function preloads(bundle: Rolldown.OutputBundle): { everywhere: string[]; screens: string } {
  const everywhere = filesOf(bundle, 'console')
  const screens = Object.entries(SCREENS).map(([place, chunk]) => {
    const needed = place === 'auth' ? filesOf(bundle, chunk) : [...filesOf(bundle, INSIDE), ...filesOf(bundle, chunk)]
    const own = [...new Set(needed)].filter((file) => !everywhere.includes(file))
    return [place, [...own.map((file) => `/app/${file}`), ...(WITH_MAP.includes(place) ? MAP : [])]]
  })
  return { everywhere, screens: JSON.stringify(Object.fromEntries(screens)) }
}

export function firstPaint(): Plugin {
  return {
    name: 'first-paint',
    transformIndexHtml: {
      order: 'post',
      handler(page, { bundle }) {
        const { everywhere, screens } = bundle ? preloads(bundle) : { everywhere: [], screens: '{}' }
        let html = page
        for (const name of SCRIPTS)
          html = html.replace(`<!-- ${name} -->`, () => `<script>${inline(name).replace('SCREENS', screens)}</script>`)
        const missing = everywhere.filter((file) => !html.includes(`"/app/${file}"`))
        const links = missing.map((file) => `  <link rel="modulepreload" crossorigin href="/app/${file}">\n  `)
        html = html.replace('</head>', () => `${links.join('')}</head>`)
        const [link, file] = STYLESHEET.exec(html) ?? []
        const sheet = file === undefined ? undefined : bundle?.[file]
        if (link === undefined || sheet?.type !== 'asset') return html
        const styles = stylesFor(html, String(sheet.source))
        return html
          .replace(link, '')
          .replace('</head>', () => `  <style>${LAYER_ORDER}${styles}</style>\n  </head>`)
          .replace('</body>', () => `  ${link.trim()}\n  </body>`)
      },
    },
  }
}
