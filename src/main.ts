/** The entry point: starts the service with every operation and task of the registry. */
import { operations, tasks } from './registry.ts'
import { run } from './start/run.ts'

await run({ operations, tasks })
