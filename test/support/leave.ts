/**
 * Loaded before every test file: once its last test is over, whatever still keeps the process alive is named and left behind. Node
 * would wait for it for ever, and with it the whole run. With TEST_PROFILE, the process also writes what it took; with TEST_SEED,
 * properties are tried on the same random values again.
 */
import { appendFileSync, readFileSync } from 'node:fs'
import { after } from 'node:test'
import { testSeed } from './campaign.ts'
import { atEnd } from './ending.ts'

const GRACE_MS = 20_000
/** Linux counts in hundredths of a second. */
const TICKS_A_SECOND = 100
const profile = process.env['TEST_PROFILE']

if (process.env['TEST_SEED']) {
  const { default: fc } = await import('fast-check')
  fc.configureGlobal({ seed: testSeed })
}

after(() => {
  for (const end of atEnd) end()
  setTimeout(() => {
    process.stderr.write(`${process.argv[1]} is over and kept alive by ${process.getActiveResourcesInfo().join(', ')}\n`)
    process.exit()
  }, GRACE_MS).unref()
})

if (profile) {
  const startedAt = Date.now() - performance.now()
  process.on('exit', () => {
    const stat = readFileSync('/proc/self/stat', 'utf8')
    const [user, system, childUser, childSystem] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 15)
      .map((ticks) => Number(ticks) / TICKS_A_SECOND)
    const wall = performance.now() / 1000
    appendFileSync(profile, `${JSON.stringify({ entry: process.argv[1], startedAt, wall, user, system, childUser, childSystem })}\n`)
  })
}
