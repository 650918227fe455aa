// Goal: one search asks every vendor that can be registered, the open hosts and the sandbox; if two of them hang, the scenes of the
// others arrive, the two are named, and nothing waits for them.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import net, { type AddressInfo, type Socket } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { parseRegistry } from '#adapters/vendors/registry.ts'
import probeSources from '#domains/catalog/probe-sources.task.ts'
import { startOpenHosts } from '../../sandbox/vendors/open-hosts/server.ts'
import { startPlanet } from '../../sandbox/vendors/planet/server.ts'
import { startSkyfi } from '../../sandbox/vendors/skyfi/server.ts'
import { startStapi } from '../../sandbox/vendors/stapi/server.ts'
import { startUmbra } from '../../sandbox/vendors/umbra/server.ts'
import { startUp42 } from '../../sandbox/vendors/up42/server.ts'
import { square } from '../orders/support.ts'
import { testClock, world } from '../support/world.ts'
import { planetRegistry } from './planet.ts'
import { skyfiRegistry } from './skyfi.ts'
import { stapiRegistry } from './stapi.ts'
import { umbraRegistry } from './umbra.ts'
import { up42Registry } from './up42.ts'

const SHIPPED = new URL('../../src/adapters/vendors/registry.json', import.meta.url)
const PLACE = { intersects: square(), datetime: '2029-11-01T00:00:00Z/2029-12-31T00:00:00Z' }
/** A server of new images has no archive; of a host of failures, only scenes that are asked for by name exist. */
const WITHOUT_ARCHIVE = ['stapi', 'sandbox-flaky']
const ATTEMPTS = 10

interface File {
  providers: object[]
  licences: object[]
  sources: { id: string; hostName: string; url: string }[]
}

interface Gate {
  readonly address: string
  /** From now on, connections are accepted and nothing is ever answered. */
  hang(): void
  open(): void
}

/** What stands before a server can hang for it. */
async function gateTo(t: TestContext, target: string): Promise<Gate> {
  const sockets = new Set<Socket>()
  let isHanging = false
  const server = net.createServer((socket) => {
    sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)))
    if (isHanging) return
    const { hostname, port } = new URL(target)
    const behind = net.connect(Number(port), hostname)
    sockets.add(behind.on('error', () => socket.destroy()).on('close', () => socket.destroy()))
    socket.on('close', () => behind.destroy())
    socket.pipe(behind).pipe(socket)
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const leave = () => {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  }
  t.after(() => {
    leave()
    server.close()
  })
  const turn = (hanging: boolean) => {
    isHanging = hanging
    leave()
  }
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, hang: () => turn(true), open: () => turn(false) }
}

/** Every vendor behind a gate, the open hosts behind one each, and the sandbox. */
async function startEverything(t: TestContext) {
  const clock = testClock('2030-01-01T00:00:00.000Z')
  const workDir = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-vendors-'))
  const setup = { clock, workDir }
  const [skyfi, planet, up42] = [await startSkyfi(setup), await startPlanet(setup), await startUp42(setup)]
  const [umbra, stapi, open] = [await startUmbra(setup), await startStapi(setup), await startOpenHosts(setup)]
  t.after(async () => {
    for (const vendor of [skyfi, planet, up42, umbra, stapi, open]) await vendor.close()
    rmSync(workDir, { recursive: true, force: true })
  })
  const shipped = JSON.parse(readFileSync(SHIPPED, 'utf8')) as File
  const files = [
    { ...shipped, sources: shipped.sources.filter(({ url }) => url === 'sandbox') },
    ...[skyfiRegistry(skyfi), planetRegistry(planet), up42Registry(up42), umbraRegistry(umbra), await open.registryFile()].map(
      (text) => JSON.parse(text) as File,
    ),
    JSON.parse(stapiRegistry(stapi)) as File,
  ]
  const gates = new Map<string, Gate>()
  const behindGate = async <S extends { id: string; url: string }>(source: S): Promise<S> => {
    if (source.url === 'sandbox') return source
    const gate = await gateTo(t, source.url)
    gates.set(source.id, gate)
    return JSON.parse(JSON.stringify(source).replaceAll(new URL(source.url).host, gate.address)) as S
  }
  const sources = []
  for (const source of files.flatMap((file) => file.sources)) sources.push(await behindGate(source))
  const registry = JSON.stringify({ ...shipped, providers: [...shipped.providers, ...files.at(-1)!.providers], sources })
  const secrets = {
    VENDOR_SKYFI_KEY: skyfi.key,
    VENDOR_PLANET_KEY: planet.key,
    VENDOR_UP42_USER: up42.user,
    VENDOR_UP42_PASSWORD: up42.password,
    VENDOR_UMBRA_CLIENT_ID: umbra.clientId,
    VENDOR_UMBRA_CLIENT_SECRET: umbra.clientSecret,
    VENDOR_STAPI_KEY: stapi.key,
  }
  const rate = { audPerUnit: 1.5, day: '2029-12-31', marginPercent: 3 }
  const exchange = new Map([
    ['USD', rate],
    ['EUR', rate],
  ])
  const parse = async (sandboxUrl: string) => parseRegistry(registry, 'the registry of this test', { sandboxUrl, secrets, exchange })
  return { clock, gates, parse, egressAllow: [...gates.values()].map(({ address }) => address) }
}

interface SourceReport {
  source_id: string
  count: number
  error: string | null
}

test('all vendors at once', async (t) => {
  const { clock, gates, parse, egressAllow } = await startEverything(t)
  const w = await world(t, { clock, vendors: true, sources: parse, egressAllow })
  const { owner } = await w.organization()
  const { key } = await w.key(owner.token, ['read'])
  const search = async () => {
    const { features, sources } = await w.ok(key, 'catalog.federated_search', { ...PLACE, limit: 100 })
    const found = new Set<string>(features.map(({ properties }: { properties: { sourceId: string } }) => properties.sourceId))
    return { found, reports: sources as SourceReport[] }
  }
  await w.runTask(probeSources, { at_start: true }) // How long each takes here.

  const lateOf = (reports: readonly SourceReport[], hanging: readonly string[] = []) =>
    reports.filter(({ source_id, error }) => error !== null && !hanging.includes(source_id)).map(({ error }) => error)
  /** On a busy machine, a host in good order can be too late, too: such a search proves nothing, and is repeated. */
  const searchUntil = async (isDone: (reports: readonly SourceReport[]) => boolean, before: () => void = () => {}) => {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      before()
      const { found, reports } = await search()
      if (isDone(reports)) return { found, reports }
      for (const gate of gates.values()) gate.open()
      w.clock.advance({ minutes: 10 })
      await w.runTask(probeSources)
    }
    throw new Error(`a host in good order was late in each of ${ATTEMPTS} searches`)
  }

  await t.test('each is asked, and responds', async () => {
    const { reports } = await searchUntil((each) => lateOf(each).length === 0)
    const asked = reports.map(({ source_id }) => source_id)
    for (const id of [
      'skyfi',
      'planet',
      'up42',
      'umbra',
      'stapi',
      'earth-search',
      'planetary-computer',
      'cdse',
      'sandbox-hr',
      'sandbox-vhr',
    ])
      assert.ok(asked.includes(id), `${id} is not among ${asked.join(', ')}`)
    for (const { source_id, count } of reports)
      if (!WITHOUT_ARCHIVE.includes(source_id)) assert.ok(count > 0, `${source_id} has scenes of this place`)
  })

  for (const hanging of [
    ['planet', 'up42'],
    ['skyfi', 'earth-search'],
    ['umbra', 'planetary-computer'],
  ])
    await t.test(`${hanging.join(' and ')} hang`, async () => {
      const isNamed = ({ source_id, count, error }: SourceReport) => {
        if (!hanging.includes(source_id)) return
        assert.equal(count, 0)
        assert.match(error ?? '', new RegExp(`^${source_id} did not respond in time`))
      }
      const { found, reports } = await searchUntil(
        (each) => {
          each.forEach(isNamed)
          // Given up, and not timed out: the request for their scenes is still open.
          const isGivenUp = each.every(({ source_id, error }) => !hanging.includes(source_id) || error!.includes('search it alone'))
          return isGivenUp && lateOf(each, hanging).length === 0
        },
        () => hanging.forEach((id) => gates.get(id)!.hang()),
      )
      assert.ok(!hanging.some((id) => found.has(id)))
      for (const { source_id, count } of reports)
        if (!hanging.includes(source_id) && !WITHOUT_ARCHIVE.includes(source_id)) assert.ok(count > 0, `${source_id} has scenes`)
      const { complete } = await w.ok(key, 'catalog.aggregate', PLACE)
      assert.equal(complete, false)
      for (const id of hanging) gates.get(id)!.open()
    })
})
