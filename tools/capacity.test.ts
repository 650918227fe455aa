// Goal: the plan of an installation follows from the measured costs, and the page about capacity states those costs.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { ASSUMPTIONS, COST_NAMES, simulate, unitsOf, type Cost, type CostName } from './capacity/model.ts'

const root = path.dirname(import.meta.dirname)
const measured = JSON.parse(readFileSync(path.join(root, 'tools/capacity/costs.json'), 'utf8')) as Record<CostName, Cost>
const nothing: Cost = { serviceCpuMs: 0, databaseCpuMs: 0, walBytes: 0, rows: 0, auditRows: 0 }
const LARGE = { tilesPerDay: 1e9, items: 1e8, organizations: 1e4 }

test('a plan follows from costs', () => {
  const costs = { ...Object.fromEntries(COST_NAMES.map((name) => [name, nothing])), tile: { ...nothing, serviceCpuMs: 10 } } as Record<
    CostName,
    Cost
  >
  // 10^9 tiles of 10 ms in a day are 116 cores; three times that at the peak, busy to 60%, are 579.
  assert.equal(simulate(costs, LARGE).apiMachines, Math.ceil((1e9 * 10 * 3) / 86_400_000 / 0.6 / 16))
  assert.equal(simulate(costs, LARGE, { ...ASSUMPTIONS, cdnShare: 0.9 }).apiMachines, Math.ceil((1e8 * 10 * 3) / 86_400_000 / 0.6 / 16))
  const writing = { ...costs, tile: nothing, write: { ...nothing, walBytes: 1e6 } }
  const { bottlenecks, shards } = simulate(writing, LARGE)
  assert.equal(bottlenecks[0]!.name, 'writes of the primary')
  assert.equal(shards, Math.ceil((5e6 * 1e6 * 3) / 86_400 / 100e6))
  assert.equal(unitsOf(LARGE, ASSUMPTIONS).write, 5e6)
})

test('the page states the costs and the plan of today', () => {
  const page = readFileSync(path.join(root, 'docs/capacity.md'), 'utf8')
  for (const name of COST_NAMES) {
    const { serviceCpuMs, databaseCpuMs, walBytes, rows, auditRows } = measured[name]
    const row = page.split('\n').find((line) => line.startsWith(`| ${name} |`))
    assert.ok(row?.includes(`| ${serviceCpuMs} | ${databaseCpuMs} | ${walBytes} | ${rows} | ${auditRows} |`), `${name}: ${row}`)
  }
  const plan = simulate(measured, LARGE)
  assert.ok(page.includes(`${plan.apiMachines} machines`), `${plan.apiMachines} machines`)
  assert.ok(page.includes(`${plan.shards} primaries`), `${plan.shards} primaries`)
  const places = plan.bottlenecks.slice(0, 3).map(({ name }) => page.indexOf(`**${name}**`))
  assert.ok(
    places.every((place, index) => place >= 0 && (index === 0 || place > places[index - 1]!)),
    'the first three bottlenecks, in order',
  )
})
