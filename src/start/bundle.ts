/**
 * The service as a few large files instead of two thousand small ones, most of whose time to load Node spends on finding and linking
 * them. `tools/bundle.ts` builds it: at `npm ci`, at the first start, or for an image. It is used only while every source file is as it
 * was then.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

export const ROOT = path.join(import.meta.dirname, '../..')
/** Where the bundles of an installation are. */
export const bundlesFolder = (root: string): string => path.join(root, 'node_modules/.cache/groundtrack/service')
/** Describes the newest bundle; replaced as a whole. */
export const bundleNote = (root: string): string => path.join(bundlesFolder(root), 'current.json')
/** The files of a bundle that are imported by their names, with their sources: `launch` by an image, the others by `launch`. */
export const BUNDLE_ENTRIES = { launch: 'src/launch.ts', early: 'src/start/early.ts', main: 'src/main.ts' } as const

/** The addresses of what `launch` imports. */
type Bundle = Readonly<Record<'early' | 'main', string>>

/** Changes with every install. */
const INSTALLED = 'node_modules/.package-lock.json'
const BUILDER = 'tools/bundle.ts'
const BUILD_TIMEOUT_MS = 120_000

export interface BundleNote {
  node: string
  /** Its folder among the bundles. */
  folder: string
  /** Files from the root, with what tells whether they have changed. */
  sources: (readonly [file: string, state: string])[]
}

/** The same sources have the same folder, whose compiled form Node caches by its name. */
export function noteOf(files: readonly string[], { root, node }: { root: string; node: string }): BundleNote {
  const sources = [...files, INSTALLED, BUILDER].toSorted().map((file) => [file, stateOf(root, file)] as const)
  const folder = createHash('sha256')
    .update(JSON.stringify([node, sources]))
    .digest('hex')
    .slice(0, 16)
  return { node, folder, sources }
}

const stateOf = (root: string, file: string): string => {
  const stats = fs.statSync(path.join(root, file), { throwIfNoEntry: false })
  return stats ? `${stats.size} ${stats.mtimeMs}` : ''
}

export const isCurrent = ({ node, folder, sources }: BundleNote): boolean =>
  node === process.version &&
  sources.every(([file, state]) => stateOf(ROOT, file) === state) &&
  fs.existsSync(entryOf(ROOT, folder, 'main'))

export const entryOf = (root: string, folder: string, name: keyof typeof BUNDLE_ENTRIES): string =>
  path.join(bundlesFolder(root), folder, `${name}.mjs`)

/** Null if there is no bundle of exactly these sources. */
function currentBundle(): Bundle | null {
  try {
    const note = JSON.parse(fs.readFileSync(bundleNote(ROOT), 'utf8')) as BundleNote
    if (!isCurrent(note)) return null
    const urlOf = (name: keyof Bundle) => pathToFileURL(entryOf(ROOT, note.folder, name)).href
    return { early: urlOf('early'), main: urlOf('main') }
  } catch {
    return null // Not built yet, or by a version that wrote another note.
  }
}

/**
 * Builds the bundle if it is missing, which takes less time than loading the sources once. Null where it cannot be built: without the
 * development dependencies, in a folder that is read-only, or with an error in a source file, which loading the sources then reports.
 */
export async function requireBundle(): Promise<Bundle | null> {
  return currentBundle() ?? ((await build()) ? currentBundle() : null)
}

function build(): Promise<boolean> {
  return new Promise((resolve) => {
    const builder = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', path.join(ROOT, BUILDER)], {
      stdio: 'ignore',
      timeout: BUILD_TIMEOUT_MS,
      killSignal: 'SIGKILL',
    })
    builder.once('error', () => resolve(false))
    builder.once('exit', (code) => resolve(code === 0))
  })
}
