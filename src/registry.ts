/** All operations and tasks. Operations are checked against the contract before the first request. */
import { TABLE } from '#contract/table.ts'
import type { AnyTask } from './task.ts'
import type { AnyOperation } from '#operation.ts'
import partitions from './background/partitions.task.ts'
import sweep from './background/sweep.task.ts'
import { domains } from './registry.domains.ts'

export const operations: ReadonlyMap<string, AnyOperation> = checked(
  Object.entries(domains).flatMap(([name, domain]) => domain.operations.map((op) => ({ name, op }))),
)

export const tasks: readonly AnyTask[] = [sweep, partitions, ...Object.values(domains).flatMap((domain) => domain.tasks)]

/** The service does not start if an operation differs from the table: a wrong scope or tier must never serve a request. */
function checked(entries: readonly { name: string; op: AnyOperation }[]): Map<string, AnyOperation> {
  const operationsById = new Map<string, AnyOperation>()
  for (const { name, op } of entries) {
    const departures = departuresOf(name, op)
    if (operationsById.has(op.id)) departures.push('appears twice')
    if (departures.length > 0) throw new Error(`operation ${op.id}: ${departures.join('; ')}`)
    operationsById.set(op.id, op)
  }
  return operationsById
}

export function departuresOf(domain: string, op: AnyOperation): string[] {
  const row = TABLE.get(op.id)
  if (!row) return ['is not in the operation table']
  const same = (what: string, built: unknown, stated: unknown) =>
    JSON.stringify(built) === JSON.stringify(stated)
      ? []
      : [`${what} is ${JSON.stringify(built)}, the table says ${JSON.stringify(stated)}`]
  return [
    ...same('domain', domain, row.domain),
    ...same('scope', op.scope, row.scope),
    ...same('tier', op.tier, row.tier),
    ...same('public', op.public ?? false, row.public),
    ...same('raw', op.raw ?? 'json', row.raw),
    ...same('idempotent', op.idempotent ?? false, row.idempotent),
    ...same('produces', op.produces ?? [], row.produces),
    ...(op.events ?? []).filter((type) => !row.events.includes(type)).map((type) => `emits ${type}, which the table does not list`),
  ]
}
