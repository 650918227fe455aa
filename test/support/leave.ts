/**
 * Loaded before every test file: once its last test is over, whatever still keeps the process alive is named and left behind. Node
 * would wait for it for ever, and with it the whole run.
 */
import { after } from 'node:test'

const GRACE_MS = 20_000

after(() => {
  setTimeout(() => {
    process.stderr.write(`${process.argv[1]} is over and kept alive by ${process.getActiveResourcesInfo().join(', ')}\n`)
    process.exit()
  }, GRACE_MS).unref()
})
