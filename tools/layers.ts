/**
 * The folders of the repository from bottom to top: what each is for, and what it can import. The lint rules
 * (tools/lint-rules.ts), the check of every import (tools/imports.ts) and the diagram (docs/layers.svg) follow from this table.
 * A file with a row of its own counts as a folder. A file belongs to the row with the longest matching path.
 */
export interface Folder {
  /** A path from the root of the repository; a folder ends with a slash. */
  readonly path: string
  /** Its row in the diagram. A folder imports from lower layers, and within its layer only from folders listed before it. */
  readonly layer: Layer
  /** What the folder is for, in one sentence. */
  readonly purpose: string
  /** Folders that it can import, or single files and subfolders of them; 'all' for those that connect the parts. */
  readonly imports: readonly string[] | 'all'
  /** Folders from which it can import types only. */
  readonly importsTypesOf?: readonly string[]
  /** It can query the database. */
  readonly sql?: true
  /** Its subfolders cannot import each other. */
  readonly apart?: true
}

/** From bottom to top. */
export const LAYERS = ['ground', 'data', 'model', 'contract', 'work', 'pipeline', 'outside', 'whole'] as const
type Layer = (typeof LAYERS)[number]

/** The title of each layer in the diagram. */
export const LAYER_TITLES: Readonly<Record<Layer, string>> = {
  ground: 'Foundation: imports almost nothing',
  data: 'Data and interfaces',
  model: 'Tables and rules',
  contract: 'Contracts of operations and tasks',
  work: 'Operations, services and adapters',
  pipeline: 'Running operations and tasks',
  outside: 'HTTP',
  whole: 'Start, entry point and sandbox',
}

const CONTEXT = ['src/core/', 'src/db/', 'src/ports/', 'src/model/', 'src/effects.ts'] as const

export const FOLDERS: readonly Folder[] = [
  {
    path: 'src/core/',
    layer: 'ground',
    purpose: 'IDs, money, time, schemas and problems: plain values that everything uses.',
    imports: [],
  },
  {
    path: 'src/raster/',
    layer: 'ground',
    purpose: 'A library that reads, renders and writes rasters and knows nothing of the platform.',
    imports: ['src/core/nearest.ts', 'src/core/fair-queue.ts'],
  },
  {
    path: 'src/config.ts',
    layer: 'data',
    purpose: 'The settings: the only reader of the environment.',
    imports: ['src/core/'],
  },
  {
    path: 'src/db/',
    layer: 'data',
    purpose: 'The connection, the tables as types, the migrations and the queue.',
    imports: ['src/core/'],
    sql: true,
  },
  {
    path: 'src/ports/',
    layer: 'data',
    purpose: 'Interfaces to systems outside the process: storage, rasters, payments.',
    imports: ['src/core/'],
    importsTypesOf: ['src/raster/'],
  },
  {
    path: 'src/effects.ts',
    layer: 'data',
    purpose: 'The effects of a change: lineage, events, tasks and usage.',
    imports: ['src/core/', 'src/db/'],
  },
  {
    path: 'src/model/',
    layer: 'model',
    purpose: 'SQL, rules and state machines, by subject.',
    imports: ['src/core/', 'src/db/', 'src/ports/', 'src/effects.ts'],
    sql: true,
  },
  {
    path: 'src/context.ts',
    layer: 'contract',
    purpose: 'The services that operations and tasks receive.',
    imports: CONTEXT,
  },
  {
    path: 'src/operation.ts',
    layer: 'contract',
    purpose: 'The interface of an operation: what it declares and what its stages receive.',
    imports: [...CONTEXT, 'src/context.ts'],
  },
  {
    path: 'src/task.ts',
    layer: 'contract',
    purpose: 'The interface of background work.',
    imports: [...CONTEXT, 'src/context.ts'],
  },
  {
    path: 'src/wire/',
    layer: 'contract',
    purpose: 'Request and response schemas that several domains share.',
    imports: ['src/core/', 'src/model/', 'src/operation.ts'],
  },
  {
    path: 'src/contract/',
    layer: 'contract',
    purpose: 'The table of all operations, and their prices.',
    imports: ['src/operation.ts'],
  },
  {
    path: 'src/services/',
    layer: 'work',
    purpose: 'Work that several domains share: rendering, ingesting files, documents.',
    imports: ['src/core/', 'src/model/', 'src/ports/', 'src/raster/', 'src/wire/', 'src/context.ts', 'src/operation.ts', 'src/effects.ts'],
  },
  {
    path: 'src/domains/',
    layer: 'work',
    purpose: 'One file per operation, one folder per domain; domains never import each other.',
    imports: [
      'src/operation.ts',
      'src/task.ts',
      'src/context.ts',
      'src/effects.ts',
      'src/core/',
      'src/model/',
      'src/ports/',
      'src/raster/',
      'src/services/',
      'src/wire/',
    ],
    apart: true,
  },
  {
    path: 'src/access/',
    layer: 'work',
    purpose: 'Who is calling: tokens, passwords, share links and rate limits.',
    imports: ['src/core/', 'src/db/', 'src/model/', 'src/ports/', 'src/context.ts', 'src/operation.ts'],
  },
  {
    path: 'src/adapters/',
    layer: 'work',
    purpose: 'Implementations of the ports: files, S3, Stripe, raster processes, the guard of outbound requests.',
    imports: ['src/core/', 'src/ports/', 'src/raster/'],
  },
  {
    path: 'src/pipeline/',
    layer: 'pipeline',
    purpose: 'The stages of every call.',
    imports: [
      'src/core/',
      'src/db/',
      'src/model/',
      'src/access/',
      'src/ports/',
      'src/contract/prices.ts',
      'src/operation.ts',
      'src/context.ts',
      'src/effects.ts',
      'src/raster/errors.ts',
    ],
  },
  {
    path: 'src/background/',
    layer: 'pipeline',
    purpose: 'Work without a caller: tasks, the sweep, the usage recorder.',
    imports: [
      'src/core/',
      'src/db/',
      'src/model/',
      'src/access/',
      'src/ports/',
      'src/contract/prices.ts',
      'src/operation.ts',
      'src/context.ts',
      'src/effects.ts',
      'src/raster/errors.ts',
      'src/pipeline/',
      'src/services/',
      'src/wire/',
      'src/task.ts',
    ],
  },
  {
    path: 'src/http/',
    layer: 'outside',
    purpose: 'Routes, headers, pages, and GET URLs of operations.',
    imports: ['src/pipeline/', 'src/background/', 'src/access/', 'src/contract/', 'src/core/', 'src/wire/', 'src/operation.ts'],
  },
  {
    path: 'sandbox/',
    layer: 'whole',
    purpose: 'Simulated card processor and vendors, synthetic scenes, and the demo.',
    imports: ['src/core/', 'src/db/', 'src/model/', 'src/access/', 'src/ports/', 'src/pipeline/', 'src/raster/'],
    sql: true,
  },
  {
    path: 'src/start/',
    layer: 'whole',
    purpose: 'Starts the service: one file for each part, and compose.ts, which connects them.',
    imports: 'all',
  },
  { path: 'src/', layer: 'whole', purpose: 'The entry point and the registry of all operations and tasks.', imports: 'all' },
]

/** The folder that a file belongs to. */
export function folderOf(file: string): Folder | undefined {
  return FOLDERS.filter(({ path }) => file === path || (path.endsWith('/') && file.startsWith(path)))
    .toSorted((a, b) => a.path.length - b.path.length)
    .at(-1)
}

/** The name of a folder: `model`, `operation.ts`. The files at the root of src are `main`. */
export function nameOf({ path }: Folder): string {
  return path === 'src/' ? 'main' : path.replace(/^src\//, '').replace(/\/$/, '')
}

/** The root of src has only its own files, not those of its subfolders. */
const isTop = ({ path }: Folder) => path === 'src/'

/** Files of src/ whose folder has no row in the table. */
export function isUnlisted(file: string): boolean {
  const folder = folderOf(file)
  return folder === undefined || (isTop(folder) && file.slice(folder.path.length).includes('/'))
}

const covers = (seen: string, file: string) => (seen.endsWith('/') ? file.startsWith(seen) : file === seen)

/** Why a file cannot import another, or null if it can. */
export function refusal(from: string, to: string, isTypeOnly: boolean): string | null {
  const [folder, target] = [folderOf(from), folderOf(to)]
  if (!folder || !target || isUnlisted(from) || isUnlisted(to)) return 'is in no listed folder: add a row to tools/layers.ts'
  if (folder === target) {
    const subfolder = (file: string) => file.slice(folder.path.length).split('/')[0]
    return folder.apart && subfolder(from) !== subfolder(to) ? `${nameOf(folder)}: ${folder.purpose}` : null
  }
  if (folder.imports === 'all' || folder.imports.some((seen) => covers(seen, to))) return null
  const types = folder.importsTypesOf?.some((seen) => covers(seen, to)) ?? false
  if (types && isTypeOnly) return null
  return types ? `${nameOf(folder)} imports only types of ${nameOf(target)}` : `${nameOf(folder)} cannot import ${nameOf(target)}`
}

/** A package: its layers, lowest first, and what it can import of others. A file can import its own layer and those below. */
interface Package {
  readonly path: string
  /** Files and folders of each layer; the most specific name that fits a file counts. */
  readonly layers: readonly (readonly string[])[]
  /** Files and folders of other packages. */
  readonly imports: readonly string[]
  /** A folder whose subfolders cannot import each other. */
  readonly apart?: string
}

export const PACKAGES: readonly Package[] = [
  {
    path: 'packages/client/src/',
    layers: [
      ['geojson.ts', 'generated/types.ts', 'generated/problems.ts', 'generated/events.ts', 'generated/prices.ts'],
      ['problem.ts', 'deadline.ts', 'lines.ts', 'md5.ts', 'pages.ts', 'retry.ts', 'session.ts', 'upload-put.ts'],
      ['client.ts'],
      ['download.ts', 'events.ts', 'upload.ts', 'upload-parts.ts', 'upload-queue.ts', 'wait.ts', 'webhooks.ts', 'generated/'],
      ['core.ts', 'node.ts', 'groundtrack.ts'],
      ['index.ts'],
    ],
    imports: [],
  },
  {
    path: 'packages/cli/src/',
    layers: [
      ['generated/', 'package-folder.ts', 'terminal.ts', 'catalogue.ts'],
      ['failure.ts', 'options.ts', 'listing.ts'],
      ['config.ts', 'confirm.ts', 'fields.ts', 'invoke.ts', 'projects.ts', 'unfinished.ts'],
      ['commands/'],
      ['commands.ts'],
      ['complete.ts', 'help.ts'],
      ['main.ts'],
    ],
    imports: ['packages/client/src/', 'src/core/nearest.ts'],
  },
  {
    path: 'packages/share/',
    layers: [
      ['share-api.ts', 'share-base-map.ts', 'blended-layer.ts', 'share-visit.ts'],
      ['map-layers.ts'],
      ['share-map.ts', 'share-panel.ts'],
      ['share-compare.ts', 'share-legend.ts'],
      ['share-layers.ts'],
      ['share.ts', 'welcome.ts'],
    ],
    imports: [],
  },
  {
    path: 'packages/console/src/',
    layers: [
      ['store.ts'],
      ['api/'],
      ['ui/'],
      ['map/'],
      ['state/'],
      ['parts/'],
      ['shell/'],
      ['screens/'],
      ['router.tsx', 'console.tsx', 'start-failure.ts', 'main.ts', 'styles/'],
    ],
    imports: [
      'packages/client/src/core.ts',
      'packages/client/src/upload-queue.ts',
      'packages/client/src/generated/',
      'packages/share/map-layers.ts',
    ],
    apart: 'screens/',
  },
]

const packageOf = (file: string) => PACKAGES.find(({ path }) => file.startsWith(path))

/** The number of a file's layer in its package; -1 where no layer names it. */
function layerOf({ path, layers }: Package, file: string): number {
  const inside = file.slice(path.length)
  const named = layers.flatMap((names, index) => names.map((name) => ({ name, index }))).filter(({ name }) => covers(name, inside))
  return named.toSorted((a, b) => a.name.length - b.name.length).at(-1)?.index ?? -1
}

/** Files of a package that no layer names. */
export function hasNoLayer(file: string): boolean {
  const owner = packageOf(file)
  return owner !== undefined && layerOf(owner, file) === -1
}

/** Why a file of a package cannot import another, or null if it can. */
export function packageRefusal(from: string, to: string): string | null {
  const owner = packageOf(from)
  if (!owner) return null
  if (packageOf(to) !== owner) return owner.imports.some((seen) => covers(seen, to)) ? null : `${owner.path} cannot import ${to}`
  const [lower, upper] = [layerOf(owner, to), layerOf(owner, from)]
  if (lower > upper) return `${owner.layers[upper]?.join(', ')} is below ${owner.layers[lower]?.join(', ')}`
  const apart = owner.apart && owner.path + owner.apart
  const subfolder = (file: string) => file.slice(apart?.length).split('/')[0]
  const isApart = apart && from.startsWith(apart) && to.startsWith(apart) && subfolder(from) !== subfolder(to)
  return isApart ? `folders of ${owner.apart} cannot import each other: move what they share to a lower layer` : null
}
