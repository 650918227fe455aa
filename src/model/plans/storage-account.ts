/**
 * Storage that an organization uses, and storage reserved for running uploads and jobs. `used_bytes` changes only with the projects'
 * counters (`project.account`) and with expiring files (`expiring-file.ts`), in the transaction that changes what it counts. A transaction
 * locks this row last: after project, collection and item.
 */
import { sql } from 'kysely'
import { problem, type Problem } from '#core/problem.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import { planOf, type Plan } from './plan.ts'

const COLUMNS = ['used_bytes as usedBytes', 'reserved_bytes as reservedBytes'] as const

type StorageAccount = Row<'storage_account', typeof COLUMNS>

export async function get(db: Db, organizationId: string): Promise<StorageAccount> {
  return await db.selectFrom('storage_account').select(COLUMNS).where('org_id', '=', organizationId).executeTakeFirstOrThrow()
}

/** Storage that is neither used nor reserved. */
export async function freeBytes(db: Db, organizationId: string): Promise<number> {
  const { usedBytes, reservedBytes } = await get(db, organizationId)
  return Math.max(0, (await planOf(db, organizationId)).storageBytes - usedBytes - reservedBytes)
}

/** Fails early with 402 if the bytes do not fit now; `reserve` makes the final decision. */
export async function checkFreeBytes(db: Db, organizationId: string, bytes: number): Promise<void> {
  const plan = await planOf(db, organizationId)
  const account = await get(db, organizationId)
  if (account.usedBytes + account.reservedBytes + bytes > plan.storageBytes) throw exceeded(account, bytes, plan)
}

/** Reserves storage for an upload or a job; 402 if used and reserved bytes would exceed the plan's quota. */
export async function reserve(tx: Tx, organizationId: string, bytes: number): Promise<void> {
  requireCount(bytes)
  const plan = await planOf(tx, organizationId)
  const result = await sql`
    update storage_account set reserved_bytes = reserved_bytes + ${bytes} where org_id = ${organizationId}
      and used_bytes + reserved_bytes + ${bytes} <= ${plan.storageBytes}
  `.execute(tx)
  if (result.numAffectedRows === 0n) throw exceeded(await get(tx, organizationId), bytes, plan)
}

/** Releases a reservation. */
export async function release(tx: Tx, organizationId: string, bytes: number): Promise<void> {
  requireCount(bytes)
  await sql`update storage_account set reserved_bytes = reserved_bytes - ${bytes} where org_id = ${organizationId}`.execute(tx)
}

/**
 * Ends a reservation: 402 if more was stored than reserved and the difference does not fit. The same transaction then creates the
 * assets that count the bytes; the row stays locked until it ends, so nobody else can take the space.
 */
export async function settle(tx: Tx, organizationId: string, { reserved, stored }: { reserved: number; stored: number }): Promise<void> {
  await release(tx, organizationId, reserved)
  if (stored > reserved) await requireFreeBytes(tx, organizationId, stored)
}

/** 402 unless the bytes fit. Locks the row, so that they still fit when the transaction counts them. */
export async function requireFreeBytes(tx: Tx, organizationId: string, bytes: number): Promise<void> {
  requireCount(bytes)
  if (bytes === 0) return
  const plan = await planOf(tx, organizationId)
  const account = await tx
    .selectFrom('storage_account')
    .select(COLUMNS)
    .where('org_id', '=', organizationId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
  if (account.usedBytes + account.reservedBytes + bytes > plan.storageBytes) throw exceeded(account, bytes, plan)
}

/** Adds or subtracts used bytes without a check: data that exists or is paid for is never rejected. */
export async function move(tx: Tx, organizationId: string, bytes: number): Promise<void> {
  if (bytes === 0) return
  await sql`update storage_account set used_bytes = used_bytes + ${bytes} where org_id = ${organizationId}`.execute(tx)
}

/** A fraction or a negative number is a bug, and the constraint would not catch all of them. */
function requireCount(bytes: number): void {
  if (!Number.isSafeInteger(bytes) || bytes < 0) throw new Error(`${bytes} is not a number of bytes`)
}

function exceeded({ usedBytes, reservedBytes }: StorageAccount, bytes: number, plan: Plan): Problem {
  const used = usedBytes + reservedBytes
  const ofWhichReserved = reservedBytes > 0 ? `, ${reservedBytes} of them reserved for running uploads and jobs` : ''
  return problem(
    'storage-quota-exceeded',
    `${bytes} bytes do not fit: ${used} of ${plan.storageBytes} bytes on the plan '${plan.name}' are used${ofWhichReserved}. ` +
      `Delete files you no longer need or change the plan.`,
    { members: { used, limit: plan.storageBytes } },
  )
}
