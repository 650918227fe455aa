/**
 * Three API processes and three workers, each on a host of its own, on a PostgreSQL with a synchronous standby under Patroni and etcd,
 * PgBouncer and HAProxy before it, an S3 server, and HAProxy and nginx in front.
 */
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { MAIN_WITH_TEST_OPERATIONS, START_FLAGS, until } from '../support/service.ts'
import * as settings from './settings.ts'
import { createHost, createNetwork, run, type Host } from './network.ts'
import { Program } from './program.ts'

const root = path.join(import.meta.dirname, '../..')
const SETTLED_MS = 180_000
const DISK = { database: '768m', worker: '256m', store: '2g' }
const FAKETIME = fs.globSync('/usr/lib/*/faketime/libfaketime.so.1')[0] ?? null
/** Of two that report their clock's offset, so that a library between them and the system is in the way of no other. */
const WITH_CLOCK = ['api3', 'worker3']

export interface Node {
  name: string
  host: Host
  program: Program
  /** Its folder, on a small disk of its own. */
  disk: string
  /** Sets its clock wrong by so many seconds; null where that is impossible. */
  setClock: ((seconds: number) => void) | null
}

export interface Cluster {
  apis: readonly Node[]
  workers: readonly Node[]
  databases: readonly Node[]
  pooler: Program
  store: { program: Program; host: Host; url: string }
  /** Addresses of the service: by HAProxy and nginx with their defaults, and with the settings of the guide. */
  entrances: { standard: readonly string[]; tuned: readonly string[] }
  /** The primary, by way of HAProxy. */
  databaseUrl: string
  primary(): Promise<Node>
  standby(): Promise<Node>
  /** Waits until both databases are in place, the standby in sync, and all processes are ready. */
  settled(): Promise<void>
  isReady(node: Node): Promise<boolean>
  /** Programs that ended by themselves, since the last call. */
  unexpectedEnds(): string[]
  stop(): Promise<void>
}

interface Member {
  name: string
  role: string
  state: string
}

/** Starts everything and waits until it serves. `versionDir`: the checkout whose service runs. */
export async function startCluster(dir: string, versionDir = root): Promise<Cluster> {
  createNetwork(dir)
  const logDir = path.join(dir, 'logs')
  fs.mkdirSync(logDir)
  const disk = (name: string, size: string, owner = 'root'): string => {
    const folder = path.join(dir, name)
    fs.mkdirSync(folder)
    run('mount', '-t', 'tmpfs', '-o', `size=${size},mode=700`, 'tmpfs', folder)
    run('chown', owner, folder)
    return folder
  }
  const write = (name: string, text: string): string => {
    const file = path.join(dir, name)
    fs.writeFileSync(file, text)
    return file
  }
  const programs: Program[] = []
  const program = (...[spec]: ConstructorParameters<typeof Program>): Program => {
    const added = new Program(spec)
    programs.push(added)
    added.start()
    return added
  }

  const hosts = {
    etcd: createHost('etcd', 10),
    databases: [createHost('pg1', 21), createHost('pg2', 22)],
    pooler: createHost('pooler', 30),
    store: createHost('store', 40),
    apis: [1, 2, 3].map((n) => createHost(`api${n}`, 50 + n)),
    workers: [1, 2, 3].map((n) => createHost(`worker${n}`, 60 + n)),
    balancer: createHost('balancer', 70),
  }

  program({ host: hosts.etcd, name: 'etcd', command: settings.etcdCommand(hosts.etcd.address, disk('etcd', '512m')), logDir })
  const databases = hosts.databases.map((host): Node => {
    const folder = disk(host.name, DISK.database, 'postgres')
    const file = write(`${host.name}.yml`, settings.patroni({ name: host.name, address: host.address, etcd: hosts.etcd.address, folder }))
    const node = program({ host, name: host.name, command: ['patroni', file], user: 'postgres', cwd: folder, logDir })
    return { name: host.name, host, program: node, disk: folder, setClock: null }
  })
  const poolerAddress = hosts.pooler.address
  const route = write('database.cfg', settings.databaseProxy(poolerAddress, hosts.databases))
  program({ host: hosts.pooler, name: 'database-proxy', command: ['haproxy', '-db', '-f', route], logDir })
  const bouncer = write('pgbouncer.ini', settings.pgbouncer(poolerAddress))
  const pooler = program({ host: hosts.pooler, name: 'pgbouncer', command: ['pgbouncer', bouncer], user: 'postgres', logDir })
  const objects = disk('objects', DISK.store)
  fs.mkdirSync(path.join(objects, settings.BUCKET))
  const store = program({
    host: hosts.store,
    name: 'store',
    command: [
      'java',
      '-Xmx384m',
      '-jar',
      path.join(dir, 's3.jar'),
      '--properties',
      write('s3.conf', settings.store(hosts.store.address, objects)),
    ],
    logDir,
  })
  program({
    host: hosts.balancer,
    name: 'haproxy',
    command: ['haproxy', '-db', '-f', write('haproxy.cfg', settings.haproxy(hosts.balancer.address, hosts.apis))],
    logDir,
  })
  fs.mkdirSync(path.join(dir, 'nginx'))
  program({
    host: hosts.balancer,
    name: 'nginx',
    command: ['nginx', '-p', path.join(dir, 'nginx'), '-c', write('nginx.conf', settings.nginx(hosts.balancer.address, hosts.apis))],
    logDir,
  })

  const memberAt = async (node: Node): Promise<Member[]> => {
    const response = await fetch(`http://${node.host.address}:8008/cluster`, { signal: AbortSignal.timeout(1_000) })
    return ((await response.json()) as { members: Member[] }).members
  }
  const members = async (): Promise<Member[]> => await Promise.any(databases.map(memberAt)).catch(() => [])
  const withRole = async (roles: readonly string[]): Promise<Node> =>
    await until(roles.join(' or '), async () => {
      const found = (await members()).find(({ role, state }) => roles.includes(role) && ['running', 'streaming'].includes(state))
      if (!found) await sleep(200)
      return databases.find(({ name }) => name === found?.name)
    })
  const inSync = async (): Promise<void> => {
    await until(
      'a primary and a synchronous standby',
      async () => {
        const all = await members()
        const isRunning = all.length === 2 && all.every(({ state }) => ['running', 'streaming'].includes(state))
        if (isRunning && all.some(({ role }) => role === 'leader') && all.some(({ role }) => role === 'sync_standby')) return true
        await sleep(300)
        return false
      },
      SETTLED_MS,
    )
  }
  await inSync()
  const primary = () => withRole(['leader'])
  const databaseUrl = `postgres://postgres@${poolerAddress}:${settings.PORTS.database}/groundtrack`
  run(...(await primary()).host.on(['createdb', '-h', (await primary()).host.address, '-U', 'postgres', 'groundtrack']))

  const node = (host: Host, role: 'api' | 'worker'): Node => {
    const folder = disk(host.name, DISK.worker)
    const clockFile = path.join(dir, `${host.name}.clock`)
    const hasClock = FAKETIME !== null && WITH_CLOCK.includes(host.name)
    if (hasClock) fs.writeFileSync(clockFile, '+0\n')
    const service = program({
      host,
      name: host.name,
      command: serviceCommand,
      cwd: versionDir,
      env: {
        ...settings.service({
          role,
          host,
          pooler: poolerAddress,
          databases: hosts.databases,
          store: hosts.store.address,
          balancer: hosts.balancer.address,
          folder,
        }),
        ...(hasClock ? settings.clock(FAKETIME!, clockFile) : {}),
      },
      logDir,
    })
    const setClock = hasClock ? (seconds: number) => fs.writeFileSync(clockFile, `${seconds < 0 ? '' : '+'}${seconds}\n`) : null
    return { name: host.name, host, program: service, disk: folder, setClock }
  }
  const apis = hosts.apis.map((host) => node(host, 'api'))
  const workers = hosts.workers.map((host) => node(host, 'worker'))
  const isReady = async ({ host }: Node): Promise<boolean> =>
    await fetch(`http://${host.address}:${settings.PORTS.service}/ready`, { signal: AbortSignal.timeout(2_000) }).then(
      ({ status }) => status === 200,
      () => false,
    )
  const allReady = (): Promise<unknown> =>
    until(
      'all processes to be ready',
      async () => {
        const ready = await Promise.all([...apis, ...workers].map(isReady))
        if (!ready.every(Boolean)) await sleep(200)
        return ready.every(Boolean)
      },
      SETTLED_MS,
    )
  const entrance = (port: number) => `http://${hosts.balancer.address}:${port}`
  const { standard, tuned } = settings.PORTS.balancer
  const cluster: Cluster = {
    apis,
    workers,
    databases,
    pooler,
    store: { program: store, host: hosts.store, url: `http://${hosts.store.address}:${settings.PORTS.store}` },
    entrances: { standard: standard.map(entrance), tuned: tuned.map(entrance) },
    databaseUrl,
    primary,
    standby: () => withRole(['sync_standby', 'replica']),
    async settled() {
      await inSync()
      await allReady()
    },
    isReady,
    unexpectedEnds: () => programs.flatMap(({ unexpected }) => unexpected.splice(0)),
    async stop() {
      for (const one of programs) await one.stop('SIGKILL')
    },
  }
  await allReady()
  for (const url of [...cluster.entrances.standard, ...cluster.entrances.tuned])
    await until(`${url} to serve`, async () => (await fetch(`${url}/ready`).catch(() => null))?.status === 200)
  cluster.unexpectedEnds() // Some start before what they need.
  return cluster
}

export const serviceCommand: readonly string[] = [process.execPath, ...START_FLAGS, MAIN_WITH_TEST_OPERATIONS]
