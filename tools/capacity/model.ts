/**
 * How many machines a load needs, and what it reaches first. Costs are measured (`npm run bench -- capacity`); capacities and prices of
 * machines are assumptions, stated here, which the command line can change.
 */
export const COST_NAMES = ['tile', 'read', 'write', 'item', 'listing', 'gigabyte'] as const
export type CostName = (typeof COST_NAMES)[number]

export interface Cost {
  readonly serviceCpuMs: number
  readonly databaseCpuMs: number
  readonly walBytes: number
  /** Written in all tables, those that are not logged among them. */
  readonly rows: number
  readonly auditRows: number
}

export interface Load {
  readonly tilesPerDay: number
  readonly items: number
  readonly organizations: number
}

/** What follows from a load, and what machines can do. */
export const ASSUMPTIONS = {
  /** Busiest moment by the mean. */
  peakFactor: 3,
  /** Calls besides tiles; a tenth of them write, and a tenth list. */
  tilesPerCall: 20,
  writeShare: 0.1,
  listingShare: 0.1,
  /** Items are replaced once in this many days. */
  itemLifeDays: 365,
  gigabytesPerItem: 0.5,
  /** Of items whose files are in our store; the others refer to their host. */
  storedShare: 0.1,
  /** Tiles that a CDN answers. */
  cdnShare: 0,
  /** Tiles of one layer that a caller reads in a minute share an audit entry. */
  tilesPerAuditRow: 50,
  /** Share of a core that is planned to be busy at the peak. */
  busyShare: 0.6,
  coresPerMachine: 16,
  /** A large primary. */
  primaryCores: 64,
  primaryWalBytesPerSecond: 100e6,
  /** Backends that a primary serves well; processes use a pooler beyond it. */
  primaryConnections: 1_000,
  connectionsPerProcess: 20,
  coresPerProcess: 4,
  /** Rows of one month that are indexed, vacuumed and dropped in time. */
  auditRowsPerMonth: 2e9,
  /** Items of one database whose indexes fit into 512 GB of memory, at about 2 kB an item. */
  itemsPerDatabase: 250e6,
  dollarsPerMachineMonth: 500,
  dollarsPerPrimaryMonth: 6_000,
  dollarsPerTerabyteMonth: 23,
  days: 30,
}
export type Assumptions = typeof ASSUMPTIONS

interface Bottleneck {
  readonly name: string
  /** Demand by capacity: above 1, one primary is not enough. */
  readonly use: number
  readonly demand: string
  readonly remedy: string
}

export interface Plan {
  readonly apiMachines: number
  readonly primaryCores: number
  readonly walMegabytesPerSecond: number
  readonly shards: number
  readonly terabytes: number
  readonly dollarsPerMonth: number
  /** The fullest first. */
  readonly bottlenecks: readonly Bottleneck[]
}

/** The audit entries of tiles depend on how many people look at the same layer, which a bench cannot know. */
const CALLS = COST_NAMES.filter((name) => name !== 'tile')
const SECONDS_PER_DAY = 86_400

/** Units of each kind per day. */
export function unitsOf({ tilesPerDay, items }: Load, a: Assumptions): Record<CostName, number> {
  const tile = tilesPerDay * (1 - a.cdnShare)
  const calls = tilesPerDay / a.tilesPerCall
  const item = items / a.itemLifeDays
  return {
    tile,
    read: calls * (1 - a.writeShare - a.listingShare),
    write: calls * a.writeShare,
    item,
    listing: calls * a.listingShare,
    gigabyte: item * a.storedShare * a.gigabytesPerItem,
  }
}

export function simulate(costs: Readonly<Record<CostName, Cost>>, load: Load, a: Assumptions = ASSUMPTIONS): Plan {
  const units = unitsOf(load, a)
  const perDay = (what: keyof Cost, names: readonly CostName[] = COST_NAMES) =>
    names.reduce((sum, name) => sum + units[name] * costs[name][what], 0)
  const atPeak = (daily: number) => (daily * a.peakFactor) / SECONDS_PER_DAY
  const serviceCores = atPeak(perDay('serviceCpuMs')) / 1_000 / a.busyShare
  const primaryCores = atPeak(perDay('databaseCpuMs')) / 1_000 / a.busyShare
  const wal = atPeak(perDay('walBytes'))
  const processes = Math.ceil(serviceCores / a.coresPerProcess)
  const connections = processes * a.connectionsPerProcess
  const auditRows = (perDay('auditRows', CALLS) + units.tile / a.tilesPerAuditRow) * a.days
  const listingCores = atPeak(units.listing * costs.listing.databaseCpuMs) / 1_000 / a.busyShare
  const bottlenecks: Bottleneck[] = [
    {
      name: 'audit rows',
      use: auditRows / a.auditRowsPerMonth,
      demand: `${figure(auditRows)} rows a month`,
      remedy: 'shorter AUDIT_DAYS, tiles through a CDN, then the audit of each organization on its shard',
    },
    {
      name: 'writes of the primary',
      use: wal / a.primaryWalBytesPerSecond,
      demand: `${figure(wal / 1e6)} MB of log a second`,
      remedy: 'shards by organization',
    },
    {
      name: 'processors of the primary',
      use: primaryCores / a.primaryCores,
      demand: `${figure(primaryCores)} cores`,
      remedy: 'replicas for reads (DATABASE_REPLICA_URLS), then shards',
    },
    {
      name: 'connections',
      use: connections / a.primaryConnections,
      demand: `${figure(connections)} from ${figure(processes)} processes`,
      remedy: 'PgBouncer in transaction mode (DATABASE_POOLER=transaction)',
    },
    {
      name: 'listings',
      use: Math.max(listingCores / a.primaryCores, load.items / a.itemsPerDatabase),
      demand: `${figure(listingCores)} cores, ${figure(load.items)} items in one database`,
      remedy: 'replicas for lists and searches, then shards',
    },
  ].toSorted((x, y) => y.use - x.use)
  const shards = Math.max(
    1,
    ...[
      auditRows / a.auditRowsPerMonth,
      wal / a.primaryWalBytesPerSecond,
      primaryCores / a.primaryCores,
      load.items / a.itemsPerDatabase,
    ].map(Math.ceil),
  )
  const apiMachines = Math.max(2, Math.ceil(serviceCores / a.coresPerMachine))
  const terabytes = (load.items * a.storedShare * a.gigabytesPerItem) / 1_000
  // Each primary with a standby.
  const dollarsPerMonth =
    apiMachines * a.dollarsPerMachineMonth + 2 * shards * a.dollarsPerPrimaryMonth + terabytes * a.dollarsPerTerabyteMonth
  return { apiMachines, primaryCores, walMegabytesPerSecond: wal / 1e6, shards, terabytes, dollarsPerMonth, bottlenecks }
}

export const figure = (value: number): string => Number(value.toPrecision(2)).toLocaleString('en', { maximumFractionDigits: 2 })
