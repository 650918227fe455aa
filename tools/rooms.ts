/**
 * The rooms of the house: what each is for, and whom it may import. One table, read by three:
 * the lint rules (tools/lint-rules.ts), the check of every import (tools/imports.ts) and the picture (docs/rooms.svg).
 * A room is a folder, or a file that deserves to be one. The most specific name that fits a file is its room.
 */
export interface Room {
  /** A path from the root of the repository; a folder ends with a slash. */
  readonly path: string
  /** The row in which the picture shows it. A room sees rooms of lower rows, and of its own only those named before it. */
  readonly layer: Layer
  /** What the room is for, in one sentence. */
  readonly purpose: string
  /** Paths of rooms that it may import, or of single files and folders in them; 'all' for those who put the house together. */
  readonly sees: readonly string[] | 'all'
  /** Rooms of which it may import types, and nothing that runs. */
  readonly seesTypesOf?: readonly string[]
  /** It may talk to a database. */
  readonly sql?: true
  /** Its folders may not see one another. */
  readonly apart?: true
}

/** The rows, lowest first. */
export const LAYERS = ['ground', 'data', 'model', 'contract', 'work', 'pipeline', 'outside', 'whole'] as const
type Layer = (typeof LAYERS)[number]

/** What a person reads beside a row of the picture. */
export const LAYER_TITLES: Readonly<Record<Layer, string>> = {
  ground: 'Ground: imports next to nothing of ours',
  data: 'Data and interfaces',
  model: 'Tables and rules',
  contract: 'What an operation is',
  work: 'Operations and what they use',
  pipeline: 'Running an operation',
  outside: 'Towards the network',
  whole: 'Putting it together',
}

const CONTEXT = ['src/core/', 'src/db/', 'src/ports/', 'src/model/', 'src/effects.ts'] as const

export const ROOMS: readonly Room[] = [
  { path: 'src/core/', layer: 'ground', purpose: 'Ids, money, time, shapes and problems: plain values that everybody uses.', sees: [] },
  {
    path: 'src/raster/',
    layer: 'ground',
    purpose: 'A library that reads, draws and writes rasters and knows nothing of the platform.',
    sees: ['src/core/nearest.ts', 'src/core/fair-queue.ts'],
  },
  {
    path: 'src/config.ts',
    layer: 'data',
    purpose: 'The settings: the only reader of the environment.',
    sees: ['src/core/'],
  },
  {
    path: 'src/db/',
    layer: 'data',
    purpose: 'The connection, the tables as types, the migrations and the queue.',
    sees: ['src/core/'],
    sql: true,
  },
  {
    path: 'src/ports/',
    layer: 'data',
    purpose: 'Interfaces of what stands outside: storage, rasters, payments.',
    sees: ['src/core/'],
    seesTypesOf: ['src/raster/'],
  },
  {
    path: 'src/effects.ts',
    layer: 'data',
    purpose: 'What a change brings with it: lineage, events, tasks and usage, in one transaction.',
    sees: ['src/core/', 'src/db/'],
  },
  {
    path: 'src/model/',
    layer: 'model',
    purpose: 'All SQL and the rules over rows, in wings by subject.',
    sees: ['src/core/', 'src/db/', 'src/ports/', 'src/effects.ts'],
    sql: true,
  },
  {
    path: 'src/context.ts',
    layer: 'contract',
    purpose: 'The one list of services that operations and tasks are given.',
    sees: CONTEXT,
  },
  {
    path: 'src/operation.ts',
    layer: 'contract',
    purpose: 'The shape of an operation: what it declares and what its stages are given.',
    sees: [...CONTEXT, 'src/context.ts'],
  },
  {
    path: 'src/task.ts',
    layer: 'contract',
    purpose: 'The shape of background work.',
    sees: [...CONTEXT, 'src/context.ts'],
  },
  {
    path: 'src/wire/',
    layer: 'contract',
    purpose: 'Shapes on the wire that several domains share.',
    sees: ['src/core/', 'src/model/', 'src/operation.ts'],
  },
  {
    path: 'src/contract/',
    layer: 'contract',
    purpose: 'The table of all operations, and whether each keeps to its row.',
    sees: ['src/operation.ts'],
  },
  {
    path: 'src/services/',
    layer: 'work',
    purpose: 'What several domains do alike: drawing, taking files in, documents.',
    sees: ['src/core/', 'src/model/', 'src/ports/', 'src/raster/', 'src/wire/', 'src/context.ts', 'src/operation.ts', 'src/effects.ts'],
  },
  {
    path: 'src/domains/',
    layer: 'work',
    purpose: 'One file an operation, one folder a domain; domains never see one another.',
    sees: [
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
    purpose: 'Who is calling: tokens, passwords, shares and the rate limit.',
    sees: ['src/core/', 'src/db/', 'src/model/', 'src/ports/', 'src/context.ts', 'src/operation.ts'],
  },
  {
    path: 'src/adapters/',
    layer: 'work',
    purpose: 'How the ports are served: disks, S3, Stripe, the raster processes, the guard of outbound requests.',
    sees: ['src/core/', 'src/ports/', 'src/raster/'],
  },
  {
    path: 'src/pipeline/',
    layer: 'pipeline',
    purpose: 'The stages that every call passes.',
    sees: [
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
    purpose: 'Running tasks, the sweep and the usage that is written later.',
    sees: [
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
    purpose: 'Routes, headers, pages and the addresses that stand for operations.',
    sees: ['src/pipeline/', 'src/background/', 'src/access/', 'src/contract/', 'src/core/', 'src/wire/', 'src/operation.ts'],
  },
  {
    path: 'sandbox/',
    layer: 'whole',
    purpose: 'Stand-ins for the world outside and the demo: a card network, scenes, a filled organization.',
    sees: ['src/core/', 'src/db/', 'src/model/', 'src/access/', 'src/ports/', 'src/pipeline/', 'src/raster/'],
    sql: true,
  },
  {
    path: 'src/start/',
    layer: 'whole',
    purpose: 'Starts the service: one file for each part, and compose.ts, which connects them.',
    sees: 'all',
  },
  { path: 'src/', layer: 'whole', purpose: 'The entry point and the registry of all operations and tasks.', sees: 'all' },
]

/** The room a file stands in. */
export function roomOf(file: string): Room | undefined {
  return ROOMS.filter(({ path }) => file === path || (path.endsWith('/') && file.startsWith(path)))
    .toSorted((a, b) => a.path.length - b.path.length)
    .at(-1)
}

/** How a room is called: `model`, `operation.ts`. The files at the top of src are `main`. */
export function nameOf({ path }: Room): string {
  return path === 'src/' ? 'main' : path.replace(/^src\//, '').replace(/\/$/, '')
}

/** A room that consists of the files of a folder, not of what lies in its subfolders: the top of src. */
const isTop = ({ path }: Room) => path === 'src/'

/** Files of src/ whose folder has no row in the table. */
export function isHomeless(file: string): boolean {
  const room = roomOf(file)
  return room === undefined || (isTop(room) && file.slice(room.path.length).includes('/'))
}

const covers = (seen: string, file: string) => (seen.endsWith('/') ? file.startsWith(seen) : file === seen)

/** Why a file must not import another, or null where it may. */
export function refusal(from: string, to: string, isTypeOnly: boolean): string | null {
  const [room, target] = [roomOf(from), roomOf(to)]
  if (!room || !target || isHomeless(from) || isHomeless(to)) return 'stands in no room: name its folder in tools/rooms.ts'
  if (room === target) {
    const folder = (file: string) => file.slice(room.path.length).split('/')[0]
    return room.apart && folder(from) !== folder(to) ? `${nameOf(room)}: ${room.purpose}` : null
  }
  if (room.sees === 'all' || room.sees.some((seen) => covers(seen, to))) return null
  const types = room.seesTypesOf?.some((seen) => covers(seen, to)) ?? false
  if (types && isTypeOnly) return null
  return types ? `${nameOf(room)} sees only types of ${nameOf(target)}` : `${nameOf(room)} does not see ${nameOf(target)}`
}

/** A package beside the service: its layers, lowest first, and what it sees of others. A file sees its own layer and those below. */
interface Package {
  readonly path: string
  /** Files and folders of each layer; the most specific name that fits a file counts. */
  readonly layers: readonly (readonly string[])[]
  /** Files and folders of other packages. */
  readonly sees: readonly string[]
  /** A folder whose folders may not see one another. */
  readonly apart?: string
}

export const PACKAGES: readonly Package[] = [
  {
    path: 'packages/client/src/',
    layers: [
      ['geojson.ts', 'generated/types.ts', 'generated/problems.ts', 'generated/events.ts', 'generated/prices.ts'],
      ['problem.ts', 'deadline.ts', 'lines.ts', 'pages.ts', 'retry.ts', 'session.ts'],
      ['client.ts'],
      ['download.ts', 'events.ts', 'upload.ts', 'upload-queue.ts', 'wait.ts', 'webhooks.ts', 'generated/'],
      ['core.ts', 'node.ts', 'groundtrack.ts'],
      ['index.ts'],
    ],
    sees: [],
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
    sees: ['packages/client/src/', 'src/core/nearest.ts'],
  },
  {
    path: 'packages/share/',
    layers: [['share-api.ts'], ['share-map.ts', 'share-panel.ts'], ['share-compare.ts', 'share-legend.ts'], ['share.ts', 'welcome.ts']],
    sees: [],
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
      ['router.tsx', 'console.tsx', 'main.ts', 'styles/'],
    ],
    sees: ['packages/client/src/core.ts', 'packages/client/src/upload-queue.ts', 'packages/client/src/generated/'],
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

/** Why a file of a package must not import another, or null where it may. */
export function packageRefusal(from: string, to: string): string | null {
  const owner = packageOf(from)
  if (!owner) return null
  if (packageOf(to) !== owner) return owner.sees.some((seen) => covers(seen, to)) ? null : `${owner.path} does not see ${to}`
  const [lower, upper] = [layerOf(owner, to), layerOf(owner, from)]
  if (lower > upper) return `${owner.layers[upper]?.join(', ')} is below ${owner.layers[lower]?.join(', ')}`
  const apart = owner.apart && owner.path + owner.apart
  const folder = (file: string) => file.slice(apart?.length).split('/')[0]
  const isApart = apart && from.startsWith(apart) && to.startsWith(apart) && folder(from) !== folder(to)
  return isApart ? `folders of ${owner.apart} do not see one another: what they share goes to a lower layer` : null
}
