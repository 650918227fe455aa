// Goal: an operator sees which installation an object store belongs to, and can say that it is this one's.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import path from 'node:path'
import { test } from 'node:test'
import { installationId } from '#model/platform/installation.ts'
import { claimStore, ownerOf } from '#services/store/owner.ts'
import { world } from '../test/support/world.ts'

const CLI = path.join(import.meta.dirname, '../packages/cli/bin/groundtrack.mjs')
const OTHER = 'a6f1c2d4-0000-4000-8000-000000000000'

test('groundtrack store', async (t) => {
  const w = await world(t)
  const own = await installationId(w.db)
  const { PATH = '', HOME = '', TMPDIR = '', NODE_COMPILE_CACHE = '' } = process.env
  const env = { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE, DATABASE_URL: w.databaseUrl, DATA_DIR: w.dataDir }
  const store = (...args: string[]) =>
    new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
      execFile(process.execPath, [CLI, 'store', ...args], { env }, (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code) : 0, stdout, stderr })
      })
    })

  assert.equal((await store('owner')).stdout, `The store belongs to nobody yet\nThis installation is ${own}\n`)
  await claimStore(w.storage, OTHER)
  const others = await store('owner')
  assert.deepEqual([others.code, others.stdout], [1, `The store belongs to ${OTHER}\nThis installation is ${own}\n`])
  assert.equal((await store('claim')).stdout, `The store is now this installation's (${own})\n`)
  assert.equal(await ownerOf(w.storage), own)
  assert.equal((await store('owner')).code, 0)
  assert.match((await store('sell')).stderr, /Usage: npm run store/)
})
