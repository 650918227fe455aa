/** Memory of all processes of a service: its peak while the demo fills, what is left when it is idle, and what each process has. */
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openLab, postmasterOf, type Service } from '../test/support/service.ts'
import { commandOf, memoryOf, treeOf } from './lib/process-tree.ts'

const { values } = parseArgs({ options: { idle: { type: 'string', default: '120' }, entry: { type: 'string', default: 'src/launch.ts' } } })
/** Converters end after 30 seconds, and drawing processes release their caches after 60. */
const IDLE_SECONDS = Number(values.idle)
/** Half of what it was: 420 to 810 MB while the demo fills. */
const TARGET_MB = { filling: 405, idle: 350 }
const SAMPLE_MS = 200
const PATIENT_MS = 3_600_000

interface Row {
  name: string
  pssMb: number
}

const NAMES: readonly (readonly [RegExp, string])[] = [
  [/src\/(launch|main)\.ts$/, 'service'],
  [/demo.seed\.ts/, 'client that fills the demo'],
  [/scene-renderer\.handlers\.ts/, 'renderer of simulated scenes'],
  [/pool\/child\.ts/, 'raster process'],
  [/vite/, 'build of the console'],
  [/tools\/bundle\.ts/, 'build of the bundle'],
  [/^postgres: .*\[local\]/, 'PostgreSQL, connection'],
  [/postgres/, 'PostgreSQL'],
]

const nameOf = (command: string): string => NAMES.find(([pattern]) => pattern.test(command))?.[1] ?? command.slice(0, 60)

function rowsOf(pid: number, dataDir: string): Row[] {
  const server = postmasterOf(dataDir)?.pid
  const pids = new Set([...treeOf(pid), ...(server ? treeOf(server) : [])])
  return [...pids].flatMap((each) => {
    const [command, memory] = [commandOf(each), memoryOf(each)]
    return command !== '' && memory ? [{ name: nameOf(command), pssMb: memory.pssMb }] : []
  })
}

const sumOf = (rows: readonly Row[]): number => rows.reduce((sum, { pssMb }) => sum + pssMb, 0)

function print(title: string, rows: readonly Row[], targetMb: number): void {
  console.log(`${title}: ${sumOf(rows).toFixed(0)} MB in ${rows.length} processes (target < ${targetMb})`)
  const named = Map.groupBy(rows, ({ name }) => name)
  for (const [name, group] of [...named].toSorted(([, a], [, b]) => sumOf(b) - sumOf(a)))
    console.log(
      `  ${name.padEnd(32)} ${sumOf(group).toFixed(1).padStart(6)} MB` +
        (group.length > 1 ? `  (${group.map(({ pssMb }) => pssMb.toFixed(1)).join(', ')})` : ''),
    )
}

/** Samples until the demo is full; returns the processes at the moment when they had most. */
async function peakWhileFilling(service: Service, dataDir: string): Promise<Row[]> {
  const deadline = Date.now() + PATIENT_MS
  let peak: Row[] = []
  for (;;) {
    const rows = rowsOf(service.pid, dataDir)
    if (sumOf(rows) > sumOf(peak)) peak = rows
    const output = service.output()
    if (output.includes('demo: ready')) return peak
    if (output.includes('the demo is incomplete') || Date.now() > deadline) throw new Error(`the demo was not filled:\n${output}`)
    await sleep(SAMPLE_MS)
  }
}

if (!fs.existsSync('/proc/self/smaps_rollup')) throw new Error('Only Linux states how much memory processes have together')
// What `npm ci` prepares: otherwise the build of the console would be half of it.
spawnSync(process.execPath, [path.join(import.meta.dirname, '../tools/prepare.mjs')])
const lab = openLab()
try {
  const dataDir = lab.dataDir()
  const service = await lab.start({ entry: values.entry, env: { DATA_DIR: dataDir, DEMO: '1' } })
  print('PSS while the demo fills, at most', await peakWhileFilling(service, dataDir), TARGET_MB.filling)
  await sleep(IDLE_SECONDS * 1000)
  print(`PSS after ${IDLE_SECONDS} idle seconds`, rowsOf(service.pid, dataDir), TARGET_MB.idle)
} finally {
  await lab.close()
}
