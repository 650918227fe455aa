/** The real service with the test operations beside its own. */
import { run } from '#start/run.ts'
import { operations, tasks } from '#registry.ts'
import { testOperations } from './operations.ts'

await run({ operations: new Map([...operations, ...testOperations.map((op) => [op.id, op] as const)]), tasks })
