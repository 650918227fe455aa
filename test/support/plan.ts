/**
 * Which test files run in which process. Loading the platform costs more than most tests take, so files that only talk to
 * it share a process, a few at a time; files that watch their process, or keep one busy for long, have one of their own.
 */
import { globSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

const FILES_A_PROCESS = 18
/** Their files load little, and most take a moment. */
const LIBRARIES = ['sandbox/', 'src/contract/', 'src/core/', 'src/raster/', 'test/console/', 'test/lint/']
const LIBRARY_FILES_A_PROCESS = 40

/** They start and kill processes, measure memory, or take so long that they would hold up whatever shares their process. */
const ALONE = [
  'src/adapters/storage/{crash,memory,signature}.test.ts',
  'src/domains/uploads/*.test.ts',
  'src/raster/pool/*.test.ts',
  'src/raster/tiff/{hostile,mutation}.test.ts',
  'test/{embedded,examples,first-minute,hostile,processes,readiness,real-files,start-errors,workers}.test.ts',
  'test/{backup,deploying,machine-failures,pgbackrest,restore,stop-after-burst,traces}.test.ts',
  'test/{browser,cdn,cluster,exposed,faults,guides,ledger,money,pooler,processing,replicas,s3,webhooks}/**/*.test.ts',
  'src/db/{failover,migration-runner,tls}.test.ts',
  'test/orders/kill.test.ts',
  'test/security/{14-shares,19-idempotency,25-leaks,28-large-bodies,29*,31*,matrix*}.test.ts',
  'tools/**/*.test.ts',
]

/**
 * What `npm test` leaves to `npm run test:all`: what takes minutes, and is seldom broken by a change elsewhere. Every domain and every
 * row of security is tested without it.
 */
const LONG: Readonly<Record<string, readonly string[]>> = {
  'journeys through the console, shared pages and guides in a browser': ['test/browser/**/*.test.ts'],
  'services that are killed while they work': [
    'src/adapters/storage/crash.test.ts',
    'test/{cluster,faults}/*.test.ts',
    'test/{money,orders,processing,webhooks}/kill.test.ts',
    'test/processing/parts.test.ts',
  ],
  'services as processes: starts, machine failures, workers, alerts, the first minute, the settings of the guides': [
    'test/{backup,embedded,first-minute,machine-failures,pgbackrest,processes,readiness,restore}.test.ts',
    'test/{deploying,start-errors,stop-after-burst,traces,workers}.test.ts',
    'test/{pooler,replicas}/*.test.ts',
    'test/{cdn,exposed}/*.test.ts',
    'test/webhooks/{alert,guide}.test.ts',
    'tools/{migrate,org,store,user}.test.ts',
  ],
  'the longest tests of domains that have faster ones: vendors that fail, conversions, images, spending': [
    'src/domains/analytics/result.tile.test.ts',
    'src/domains/billing/{monthly,spending,topup-outages}.test.ts',
    'src/domains/catalog/{public,scene.copy}.test.ts',
    'src/domains/cog/{statistics,tile.render}.test.ts',
    'src/domains/items/{asset.download,import_stac.geoparquet,retention,stack,tile,tile.wmts}.test.ts',
    'src/domains/orders/{archive,faults,limits,payments,tasking,wrong-deliveries}.test.ts',
    'src/domains/processing/{cancel,execute,parts,processing,stages}.test.ts',
    'src/domains/stac/{heavy,shown}.test.ts',
    'src/domains/uploads/{facts,position,uploads}.test.ts',
    'src/http/{events,mailed}.test.ts',
    'src/http/projections/processes.test.ts',
    'src/raster/warp/place.test.ts',
    'src/services/processing/{mosaic,position-warnings,processes}.test.ts',
    'test/orders/buying.test.ts',
    'test/stack.test.ts',
  ],
  'documents and clients of STAC, the OGC and UP42, beside the tests of their routes': [
    'src/http/projections/up42/clients.test.ts',
    'test/ogc/{cql2-examples,processes}.test.ts',
    'test/stac/schemas.test.ts',
  ],
  'the simulated vendors and their scenes': ['sandbox/scenes/scenes.test.ts', 'test/vendors/*.test.ts'],
  'the commands and code of the guides': ['test/guides/*.test.ts'],
  'random sequences, mutants and large files': [
    'src/adapters/storage/{memory,signature}.test.ts',
    'src/raster/formulas/styles.test.ts',
    'src/raster/tiff/mutation.test.ts',
    'test/ledger/*.test.ts',
    'test/money/{accruals,inputs}.test.ts',
    'test/{hostile,real-files}.test.ts',
  ],
  'every example of the reference, the command line as a process, packages as they are published': [
    'test/examples.test.ts',
    'test/cli/{cli,package}.test.ts',
    'test/client/{first-call,live,package,types,walk}.test.ts',
    'test/lint/platforms.test.ts',
  ],
  'an S3 server': ['src/adapters/storage/s3.test.ts', 'test/s3/{platform,tile-cache}.test.ts'],
}

/** A first look at the console belongs to every run. */
const DAILY = new Set(['test/browser/console-first.test.ts'])

/** The files of each kind that `npm test` leaves out, of those that are given. */
export function longFiles(root: string, files: readonly string[]): ReadonlyMap<string, readonly string[]> {
  return new Map(
    Object.entries(LONG).map(([kind, patterns]) => {
      const ofKind = new Set(globSync(patterns, { cwd: root }))
      return [kind, files.filter((file) => ofKind.has(file) && !DAILY.has(file))] as const
    }),
  )
}

/** Entry files for node's test runner, the longest first so that no core idles at the end. Writes those of groups into `folder`. */
export function planned(root: string, files: readonly string[], folder: string): string[] {
  const alone = new Set(globSync(ALONE, { cwd: root }))
  const own = files.filter((file) => alone.has(file) || !file.endsWith('.test.ts'))
  const shared = files.filter((file) => !own.includes(file))
  const libraries = shared.filter((file) => LIBRARIES.some((folder) => file.startsWith(folder)))
  const others = shared.filter((file) => !libraries.includes(file))
  const groups = [...inParts(others, FILES_A_PROCESS), ...inParts(libraries, LIBRARY_FILES_A_PROCESS)]
  const entries = groups.map((group, index) => {
    const entry = path.join(folder, `group-${index}.mjs`)
    writeFileSync(entry, group.map((file) => `import '${pathToFileURL(path.join(root, file)).href}'\n`).join(''))
    return entry
  })
  return [...own.toSorted(byRank).map((file) => path.join(root, file)), ...entries]
}

/** They wait for minutes, whatever the machine, so nothing begins before them. */
const LONGEST = [
  'test/cluster/cluster.test.ts',
  'test/orders/kill.test.ts',
  'test/processing/kill.test.ts',
  'test/webhooks/kill.test.ts',
  'test/guides/guides.test.ts',
]

/** Campaigns around whole services come first, then what talks to the platform, then libraries. */
const byRank = (a: string, b: string) => rank(a) - rank(b)
const rank = (file: string) => (LONGEST.includes(file) ? 0 : file.startsWith('test/') ? 1 : file.startsWith('tools/') ? 2 : 3)

function inParts(files: readonly string[], size: number): string[][] {
  const parts = Math.ceil(files.length / size)
  return Array.from({ length: parts }, (_, part) => files.filter((_file, index) => index % parts === part))
}
