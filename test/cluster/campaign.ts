/** Strikes a cluster again and again while others write and read, and looks after each fault whether anything was lost or torn. */
import fs from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createEffects } from '../faults/operations.ts'
import { RATE_WINDOWS, violations } from '../faults/invariants.ts'
import { withDatabase } from '../faults/kill.ts'
import { seeded, type Random } from '../support/random.ts'
import { until } from '../support/service.ts'
import type { Cluster } from './cluster.ts'
import { faultsFor, type Fault } from './faults.ts'
import { openJournal, type Journal } from './journal.ts'

export interface CampaignSettings {
  seed: number
  faults: number
  /** Only faults whose name matches this regular expression; empty: all. */
  only: string
  /** A call that takes longer does not count as recovered. */
  slowMs: number
  /** File that every round is added to as it ends, a line of JSON each; null: none. */
  results: string | null
}

/** Seconds; what a campaign on a machine of its own must keep. */
export const STRICT = { slow: 1, call: 35, recovery: 15, failover: 45 }

export type Limits = typeof STRICT

export interface Round {
  fault: string
  what: string
  isFailover: boolean
  acknowledged: number
  calls: number
  /** How many calls were answered with each status; 0: not at all. */
  statuses: Record<string, number>
  longestSeconds: number
  longestOperation: string
  /** From the end of the fault until all calls succeeded and were fast; null: never. */
  recoverySeconds: number | null
  /** What was lost, applied twice, torn, or answered with 500. */
  broken: string[]
}

export interface CampaignResult {
  seed: number
  rounds: Round[]
  acknowledged: number
  leftOut: string[]
}

const CALM_MS = 3_000
/** So many calls, well below what comes in that time, show that somebody called at all. */
const CALM_CALLS = 20
/** Far above the limits: a machine that is merely busy is no defect. */
const GIVE_UP_MS = 180_000
const MAX_MOMENT_MS = 2_000

export async function campaign(cluster: Cluster, settings: CampaignSettings, say: (line: string) => void): Promise<CampaignResult> {
  const { seed } = settings
  const random = seeded(seed)
  await withDatabase(cluster.databaseUrl, createEffects)
  const journal = await openJournal(cluster.entrances.tuned, settings.slowMs)
  const possible = faultsFor(cluster).filter(({ name }) => new RegExp(settings.only).test(name))
  const leftOut = possible.some(({ name }) => name.startsWith('clock ')) || settings.only ? [] : ['clocks: needs Debian’s package faketime']
  const rounds: Round[] = []
  for (const fault of inTurn(possible, settings.faults, random)) {
    const round = await strike(cluster, journal, fault, random)
    rounds.push(round)
    if (settings.results) fs.appendFileSync(settings.results, `${JSON.stringify({ seed, ...round })}\n`)
    say(`${rounds.length}: ${describe(round)}`)
    for (const line of round.broken.slice(0, 10)) say(`  ! ${line}`)
  }
  await journal.stop()
  const last = await withDatabase(cluster.databaseUrl, async (db) => {
    await until('the workers to finish', async () => (await journal.unfinished(db)).length === 0, GIVE_UP_MS).catch(() => {})
    return [...(await journal.compare(db)), ...(await journal.unfinished(db))]
  })
  rounds.at(-1)?.broken.push(...last)
  return { seed, rounds, acknowledged: journal.acknowledged(), leftOut }
}

/** Every kind once in random order, then again, so that a part of a campaign has many kinds. */
function inTurn(faults: readonly Fault[], count: number, random: Random): Fault[] {
  const chosen: Fault[] = []
  while (chosen.length < count) {
    const left = [...faults]
    while (left.length > 0 && chosen.length < count) chosen.push(...left.splice(random.integer(0, left.length - 1), 1))
  }
  return chosen
}

async function strike(cluster: Cluster, journal: Journal, fault: Fault, random: Random): Promise<Round> {
  await cluster.settled()
  await calm(journal)
  cluster.unexpectedEnds()
  journal.take()
  const acknowledgedBefore = journal.acknowledged()
  await sleep(random.integer(0, MAX_MOMENT_MS))
  const { what, endedAtMs } = await fault.strike(cluster, random)
  const isCalm = await calm(journal, endedAtMs)
  const recoverySeconds = isCalm ? Math.max(0, (journal.lastBadMs() - endedAtMs) / 1000) : null
  const resume = await journal.pause()
  const broken = await inspect(cluster, journal, fault)
  resume()
  const samples = journal.take()
  const statuses: Record<string, number> = {}
  for (const { status } of samples) statuses[status] = (statuses[status] ?? 0) + 1
  const longest = samples.reduce((one, other) => (other.ms > one.ms ? other : one), { operation: 'none', ms: 0 })
  for (const { operation, status } of samples) if (status === 500) broken.push(`${operation} answered 500`)
  return {
    fault: fault.name,
    what,
    isFailover: fault.isFailover === true,
    acknowledged: journal.acknowledged() - acknowledgedBefore,
    calls: samples.length,
    statuses,
    longestSeconds: longest.ms / 1000,
    longestOperation: longest.operation,
    recoverySeconds,
    broken: [...broken, ...journal.contradictions.splice(0), ...cluster.unexpectedEnds()],
  }
}

/** Whether, for a while that began after the given time, every call succeeded and was fast. */
async function calm(journal: Journal, afterMs = 0): Promise<boolean> {
  const deadline = performance.now() + GIVE_UP_MS
  while (performance.now() < deadline) {
    const since = performance.now() - CALM_MS
    if (since >= afterMs && journal.lastBadMs() < since && journal.goodSince(since) > CALM_CALLS) return true
    await sleep(100)
  }
  return false
}

/** What a wrong clock has done to rate windows is put right by the next calls, and the next round looks whether it was. */
const inspect = (cluster: Cluster, journal: Journal, { hasWrongClock }: Fault): Promise<string[]> =>
  withDatabase(cluster.databaseUrl, async (db) => [
    ...(await journal.compare(db)),
    ...(await violations(db)).filter(({ rule }) => !(hasWrongClock && rule === RATE_WINDOWS)).map(({ rule, what }) => `${rule}: ${what}`),
  ])

function describe({
  fault,
  what,
  acknowledged,
  calls,
  statuses,
  longestSeconds,
  longestOperation,
  recoverySeconds,
  broken,
}: Round): string {
  const failed = Object.entries(statuses).filter(([status]) => status !== '200' && status !== '201')
  return [
    `${fault} (${what})`,
    `${acknowledged} writes acknowledged, ${calls} calls`,
    failed.length > 0 ? `failed: ${failed.map(([status, n]) => `${n} × ${status}`).join(', ')}` : 'none failed',
    `longest ${longestSeconds.toFixed(1)} s (${longestOperation})`,
    recoverySeconds === null ? 'NOT recovered' : `recovered in ${recoverySeconds.toFixed(1)} s`,
    broken.length > 0 ? `BROKEN ${broken.length}` : 'nothing lost or torn',
  ].join('; ')
}
