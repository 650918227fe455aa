/**
 * Tiles of items through the whole service by HTTP, with a key, its rate limit, access control, usage and audit, against TiTiler
 * and MapServer by FastCGI, which have none of that, on the very files that were uploaded. All sides run on one and the same core
 * and take turns; CPU is that of every process of a side, PostgreSQL's included.
 *
 * A `session` pans over a file that nobody has looked at, `scattered` tiles share no block with the one before, `repeated` asks for
 * one tile again and again. Every round of a cold workload has a file of its own on every side: a link to the same bytes.
 *
 * `--by item,address` also asks for the same tiles by the address of the file, on a file server of this machine, while the peers read
 * it from the disk. `--users 10` lets so many people pan over five files at once, each along a path of their own. All sides write WebP
 * of quality 75 and JPEG of quality 85, which is what TiTiler does by default (the contract's defaults, 82 for items and 85 for
 * addresses, are finer for WebP than those of the peers). A row tells where it misses what was aimed at.
 *
 * `--parts` tells where our CPU goes, `--alone` leaves the peers out.
 *
 *   npm run bench:service-tiles -- --rounds 3 --clients 1,8 --core 1 --only "webp session UTM" --profile /tmp/profile
 */
import { copyFileSync, linkSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openLab } from '../test/support/service.ts'
import { CASES, pathOf, tilesOf, WORKLOADS, type Case, type Tile, type Workload } from './lib/cases.ts'
import { median } from './lib/cpu.ts'
import { dataFile, hasMapserver, preparePeers } from './lib/peers.ts'
import {
  agent,
  FORMATS,
  startMapserverSide,
  startOurs,
  startTitilerSide,
  WAYS,
  type Format,
  type Side,
  type Way,
} from './lib/tile-sides.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    clients: { type: 'string', default: '1' },
    core: { type: 'string', default: String(os.availableParallelism() - 1) },
    only: { type: 'string', default: '' },
    by: { type: 'string', default: 'item' },
    users: { type: 'string', default: '0' },
    profile: { type: 'string', default: '' },
    parts: { type: 'boolean', default: false },
    alone: { type: 'boolean', default: false },
  },
})
const ROUNDS = Number(values.rounds)
const CLIENTS = values.clients.split(',').map(Number)
const CORE = Number(values.core)
const USERS = Number(values.users)
const BY: readonly Way[] = WAYS.filter((way) => values.by.split(',').includes(way))
const START_DEADLINE_MS = 60_000
/** Files that people look at in a map session. */
const SESSION_FILES = 5

const WARM_MS = 2_000

/** Of a kind of words, those that were named, or all. */
const words = values.only.split(' ').filter(Boolean)
const chosen = <W extends string>(all: readonly W[]): readonly W[] => {
  const given = all.filter((word) => words.includes(word))
  return given.length > 0 ? given : all
}
const named = words.filter((word) => ![...FORMATS, ...WORKLOADS].includes(word as Format))
const cases = CASES.filter(({ name }) => named.length === 0 || named.some((word) => name.includes(word)))
const workloads = chosen(WORKLOADS)
/** One file a cold cell, and five a map session: the first only warms up. */
const COPIES =
  1 +
  ROUNDS *
    chosen(FORMATS).length *
    (CLIENTS.length * workloads.filter((workload) => workload !== 'repeated').length + (USERS > 0 ? SESSION_FILES : 0))

/** Times ours, by CPU and by tiles a second. TiTiler's are those of items; by address no cell may be below the least. */
const AIMS = {
  titiler: { session: { png: 6, webp: 4, jpeg: 5 }, scattered: 3, repeated: 50, least: 2 },
  mapserver: { item: 2.5, address: 1.5, least: 1.2 },
}

function aimOf(peer: Side, { way }: Side, workload: Workload, format: Format): number {
  const { titiler, mapserver } = AIMS
  if (peer.name === 'MapServer') return workload === 'repeated' ? mapserver.least : mapserver[way!]
  if (way === 'address') return titiler.least
  return workload === 'session' ? titiler.session[format] : titiler[workload]
}

const lab = openLab()
const links = mkdtempSync(path.join(os.tmpdir(), 'groundtrack-links-'))
const stops: (() => unknown)[] = [() => rmSync(links, { recursive: true, force: true })]
const linkOf = (item: Case, copy: number): string => path.join(links, `${item.file}-${copy}.tif`)

interface Measured {
  cpuMs: number
  perSecond: number
  p50: number
  p95: number
  kilobytes: number
}

/** Each of these asks for its tiles one after the other, all at the same time. */
async function measure(side: Side, people: readonly Iterable<() => Promise<number>>[]): Promise<Measured> {
  const times: number[] = []
  const before = side.cpuMs()
  const partsBefore = side.parts?.()
  const began = performance.now()
  let bytes = 0
  const browse = async (asks: Iterable<() => Promise<number>>): Promise<void> => {
    for (const ask of asks) {
      const asked = performance.now()
      const got = await ask()
      bytes += got
      times.push(performance.now() - asked)
    }
  }
  await Promise.all(people.map(browse))
  const seconds = (performance.now() - began) / 1000
  if (values.parts && partsBefore) {
    const after = side.parts!()
    const spent = Object.keys(after).map((part) => `${part} ${((after[part]! - partsBefore[part]!) / times.length).toFixed(2)}`)
    console.log(`  ${side.name}, CPU ms a tile: ${spent.join(', ')}; ${seconds.toFixed(1)} s`)
  }
  const inOrder = times.toSorted((a, b) => a - b)
  return {
    cpuMs: (side.cpuMs() - before) / times.length,
    perSecond: times.length / seconds,
    p50: inOrder[Math.floor(times.length * 0.5)]!,
    p95: inOrder[Math.floor(times.length * 0.95)]!,
    kilobytes: bytes / times.length / 1024,
  }
}

async function untilUp(side: Side): Promise<void> {
  const item = cases[0]!
  const deadline = performance.now() + START_DEADLINE_MS
  for (;;) {
    try {
      await side.fetch(item, 0, tilesOf(item, 'repeated')[0]!, 'png')
      return
    } catch (error) {
      if (performance.now() > deadline) throw error
      await sleep(200)
    }
  }
}

const show = (value: number): string => value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0).padStart(8)
/** CPU is counted in hundredths of a second. */
const LEAST_CPU_MS = 0.01

let usedCopies = 0

type Results = Map<Side, Measured[]>
const ableTo = (sides: readonly Side[], item: Case): Side[] => sides.filter(({ name }) => name !== 'MapServer' || item.mapserver)
const of = (results: Results, side: Side, pick: (run: Measured) => number): number => median(results.get(side)!.map(pick))

/** All sides, round by round, nobody always first. `people` says who asks what of a side. */
async function rounds(
  able: readonly Side[],
  people: (side: Side, round: number) => readonly Iterable<() => Promise<number>>[],
): Promise<Results> {
  const results: Results = new Map(able.map((side) => [side, []]))
  for (let round = 0; round < ROUNDS; round++) {
    for (let i = 0; i < able.length; i++) {
      const side = able[(i + round) % able.length]!
      results.get(side)!.push(await measure(side, people(side, round)))
    }
  }
  return results
}

/** Taken from one list by several. */
const shared = (asks: readonly (() => Promise<number>)[], clients: number): Iterable<() => Promise<number>>[] => {
  const queue = asks.values()
  return Array.from({ length: clients }, () => ({ [Symbol.iterator]: () => ({ next: () => queue.next() }) }))
}

async function cell(sides: readonly Side[], at: { item: Case; format: Format; workload: Workload; clients: number }): Promise<void> {
  const { item, format, workload, clients } = at
  const able = ableTo(sides, item)
  const firstCopy = usedCopies + 1
  if (workload !== 'repeated') usedCopies += ROUNDS
  const results = await rounds(able, (side, round) => {
    const copy = workload === 'repeated' ? 0 : firstCopy + round
    return shared(
      tilesOf(item, workload).map((tile) => () => side.fetch(item, copy, tile, format)),
      clients,
    )
  })
  const peers = able.filter(({ way }) => way === null)
  for (const ours of able.filter(({ way }) => way !== null)) {
    const parts = [ours, ...peers].map(
      (side) =>
        `${show(of(results, side, (run) => run.cpuMs))}${show(of(results, side, (run) => run.perSecond))}` +
        `${show(of(results, side, (run) => run.p95))}${show(of(results, side, (run) => run.kilobytes))}`,
    )
    const ratios = peers.map((peer) => {
      const cpu =
        of(results, peer, (run) => run.cpuMs) /
        Math.max(
          LEAST_CPU_MS,
          of(results, ours, (run) => run.cpuMs),
        )
      const speed = of(results, ours, (run) => run.perSecond) / of(results, peer, (run) => run.perSecond)
      const aim = aimOf(peer, ours, workload, format)
      return { text: `${show(cpu)}×${show(speed)}×`, missed: Math.min(cpu, speed) < aim ? `${peer.name} ${aim}×` : null }
    })
    const missed = ratios.flatMap((ratio) => ratio.missed ?? [])
    console.log(
      `${item.name.padEnd(24)}${format.padEnd(6)}${workload.padEnd(10)}${String(clients).padEnd(3)}${ours.way!.padEnd(8)}` +
        `${parts.join(' |')} |${ratios.map(({ text }) => text).join(' ')}${missed.length > 0 ? `  below: ${missed.join(', ')}` : ''}`,
    )
  }
}

/** People who pan over a few files at once: how long they wait for a tile. */
async function mapSession(sides: readonly Side[], item: Case, format: Format): Promise<void> {
  const able = ableTo(sides, item)
  const firstCopy = usedCopies + 1
  usedCopies += ROUNDS * SESSION_FILES
  const results = await rounds(able, (side, round) =>
    Array.from({ length: USERS }, (_, user) => {
      const copy = firstCopy + round * SESSION_FILES + (user % SESSION_FILES)
      return pathOf(item, user).map((tile: Tile) => () => side.fetch(item, copy, tile, format))
    }),
  )
  const waits = able.map((side) => ({ side, p50: of(results, side, (run) => run.p50), p95: of(results, side, (run) => run.p95) }))
  const told = waits.map(({ side, p50, p95 }) => {
    const slower = waits.some((peer) => side.way !== null && peer.side.name === 'TiTiler' && peer.p95 < p95)
    return `${side.name}${show(p50)}${show(p95)}${show(of(results, side, (run) => run.cpuMs))}${slower ? '  slower than TiTiler' : ''}`
  })
  console.log(`${item.name.padEnd(24)}${format.padEnd(6)}${USERS} users, ${SESSION_FILES} files; p50, p95, CPU ms: ${told.join(' | ')}`)
}

function linkFiles(): void {
  for (const item of cases)
    for (let copy = 0; copy < COPIES; copy++) {
      try {
        linkSync(dataFile(item.file), linkOf(item, copy))
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        if (code === 'EXDEV') copyFileSync(dataFile(item.file), linkOf(item, copy))
        else if (code !== 'EEXIST') throw error // Two cases may show one file.
      }
    }
}

/** Every path has run for a while before it is measured, as in a service that has been up: code is compiled, processes are there. */
async function warmUp(side: Side, item: Case, format: Format): Promise<void> {
  const tiles = tilesOf(item, 'session')
  const until = performance.now() + WARM_MS
  for (let i = 0; i < tiles.length || performance.now() < until; i++) await side.fetch(item, 0, tiles[i % tiles.length]!, format)
}

try {
  preparePeers()
  linkFiles()
  const setting = { lab, cases, copies: COPIES, core: CORE, ways: BY, profile: values.profile, linkOf, stops }
  const peers = values.alone ? [] : [startTitilerSide(setting), ...(hasMapserver() ? [startMapserverSide(setting)] : [])]
  const sides = [...(await startOurs(setting)), ...peers]
  for (const side of sides) await untilUp(side)
  console.log(
    `load average ${os
      .loadavg()
      .map((value) => value.toFixed(1))
      .join(' ')}, core ${CORE}, medians of ${ROUNDS} rounds`,
  )
  console.log(
    `for ours, ${peers.map(({ name }) => name).join(', ')}: CPU ms a tile, tiles/s, p95 ms, KB; then by peer: CPU and speed, times ours`,
  )
  for (const item of cases) {
    for (const format of chosen(FORMATS)) for (const side of ableTo(sides, item)) await warmUp(side, item, format)
    usedCopies = 0
    for (const format of chosen(FORMATS)) {
      for (const workload of workloads) for (const clients of CLIENTS) await cell(sides, { item, format, workload, clients })
      if (USERS > 0) await mapSession(sides, item, format)
    }
  }
} finally {
  agent.destroy()
  for (const stop of stops) await stop()
  if (values.profile) await sleep(3_000)
  await lab.close()
}
