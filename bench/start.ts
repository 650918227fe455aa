/** From `npm start` on an empty folder to the first 200 of /health, again on a full one, and the memory of all processes when idle. */
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { freePort } from '../test/support/port.ts'
import { isAlive, openLab, postmasterOf, until } from '../test/support/service.ts'
import { commandOf, cpuSecondsOf, memoryOf, treeOf } from './lib/process-tree.ts'

const { values } = parseArgs({ options: { idle: { type: 'string', default: '30' }, rounds: { type: 'string', default: '3' } } })
const IDLE_SECONDS = Number(values.idle)
const TARGET_SECONDS = { first: 3, later: 1.5 }
const TARGET_MB = 350
const root = path.dirname(import.meta.dirname)

interface Started {
  npm: number
  seconds: number
  cpuSeconds: number
}

async function startOnce(dataDir: string): Promise<Started> {
  const port = await freePort()
  const began = performance.now()
  const child = spawn('npm', ['start'], {
    cwd: root,
    env: { ...process.env, DATA_DIR: dataDir, PORT: String(port), DATABASE_URL: '' },
    stdio: 'ignore',
  })
  started.push(child.pid!)
  await until(
    '/health',
    async () =>
      await fetch(`http://127.0.0.1:${port}/health`).then(
        (answer) => answer.status === 200,
        () => false,
      ),
    120_000,
  )
  const seconds = (performance.now() - began) / 1000
  const cpuSeconds = treeOf(child.pid!)
    .filter((pid) => isService(pid))
    .reduce((sum, pid) => sum + cpuSecondsOf(pid), 0)
  return { npm: child.pid!, seconds, cpuSeconds }
}

async function stop(npm: number): Promise<void> {
  const service = treeOf(npm).find(isService)
  if (service) process.kill(service, 'SIGTERM')
  await until('the service to stop', () => !isAlive(npm) && (!service || !isAlive(service)))
}

async function memory(dataDir: string, npm: number): Promise<void> {
  // A first start fills the demo for a while, with the help of other processes; idle is when these have ended.
  await sleep(3_000)
  await until('the demo to be filled', () => !treeOf(npm).some((pid) => /seed\.ts|child\.ts/.test(commandOf(pid))), 600_000)
  await sleep(IDLE_SECONDS * 1000)
  const processes = [...treeOf(npm), ...treeOf(postmasterOf(dataDir)!.pid)]
  const unique = [...new Set(processes)]
  const rows = unique.flatMap((pid) => {
    const [name, used] = [commandOf(pid), memoryOf(pid)] // Null of a connection that was closed just now.
    return used ? [{ name, ...used }] : []
  })
  for (const { name, rssMb, pssMb } of rows)
    console.log(`  ${name.slice(0, 60).padEnd(62)} RSS ${rssMb.toFixed(1).padStart(6)} MB  PSS ${pssMb.toFixed(1).padStart(6)} MB`)
  const sum = (pick: (row: (typeof rows)[number]) => number) => rows.reduce((total, row) => total + pick(row), 0)
  console.log(
    `idle for ${IDLE_SECONDS} s, ${rows.length} processes: RSS ${sum((row) => row.rssMb).toFixed(0)} MB, PSS ` +
      `${sum((row) => row.pssMb).toFixed(0)} MB (target < ${TARGET_MB}; RSS counts shared pages once per process, PSS ` +
      'once)',
  )
}

const isService = (pid: number): boolean => commandOf(pid).includes('src/launch.ts')

const lab = openLab()
const started: number[] = []
try {
  console.log(
    `load average ${fs.readFileSync('/proc/loadavg', 'utf8').split(' ').slice(0, 2).join(' ')}; a busy machine ` +
      'starts slower: CPU seconds are what the start costs',
  )
  for (let round = 1; round <= Number(values.rounds); round++) {
    const dataDir = lab.dataDir()
    const first = await startOnce(dataDir)
    await stop(first.npm)
    const second = await startOnce(dataDir)
    console.log(
      `first start ${first.seconds.toFixed(2)} s (target < ${TARGET_SECONDS.first}), second ${second.seconds.toFixed(2)} s ` +
        `(target < ${TARGET_SECONDS.later}); ` +
        `CPU of the service ${first.cpuSeconds.toFixed(2)} s and ${second.cpuSeconds.toFixed(2)} s`,
    )
    if (round === Number(values.rounds)) await memory(dataDir, second.npm)
    await stop(second.npm)
  }
} finally {
  for (const npm of started) for (const pid of treeOf(npm)) process.kill(pid, 'SIGKILL')
  await lab.close()
}
