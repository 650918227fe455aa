/** The real service, with more time for rasters and their hosts: the guides share their machine with other tests. */
import { operations, tasks } from '#registry.ts'
import { run } from '#start/run.ts'

await run({ operations, tasks, deadlineFactor: 20 })
