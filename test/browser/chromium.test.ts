// Goal: a test file that hangs can be stopped by a signal, and its browser goes with it.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { within } from '../support/guests.ts'
import { WITHOUT_BROWSER } from './chromium.ts'

const HANGS = path.join(import.meta.dirname, 'support/hangs.ts')
const END_MS = 600_000
const LOOK_MS = 20

/** A process that has ended and was not collected yet is gone as well. */
function isGone(pid: number): boolean {
  try {
    return / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return true
  }
}

async function gone(pid: number): Promise<void> {
  const until = Date.now() + END_MS
  while (!isGone(pid)) {
    assert.ok(Date.now() < until, `the browser ${pid} is still there`)
    await pause(LOOK_MS)
  }
}

for (const signal of ['SIGTERM', 'SIGKILL'] as const)
  test(`a browser ends with who started it: ${signal}`, { skip: WITHOUT_BROWSER }, async (t) => {
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', HANGS], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.after(() => child.kill('SIGKILL'))
    const [line] = (await within(END_MS, 'starting a browser', once(createInterface(child.stdout), 'line'))) as [string]
    assert.ok(!isGone(Number(line)))
    const ended = once(child, 'exit')
    child.kill(signal)
    assert.deepEqual(await within(END_MS, `ending by ${signal}`, ended), [null, signal])
    await gone(Number(line))
  })
