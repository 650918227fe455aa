/**
 * What an organization stores, and what uploads and jobs under way have been promised. `used_bytes` moves with the projects'
 * counters (`project.account`) and with files that are kept for a while (`kept-file.ts`), and by nothing else, in one transaction
 * with what it counts. Its row is the last that a transaction takes: after project, collection and item.
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

/** What still fits, beside what is used and promised. */
export async function freeBytes(db: Db, organizationId: string): Promise<number> {
  const { usedBytes, reservedBytes } = await get(db, organizationId)
  return Math.max(0, (await planOf(db, organizationId)).storageBytes - usedBytes - reservedBytes)
}

/** 402 early, where so many bytes do not fit now; `reserve` decides. */
export async function checkFreeBytes(db: Db, organizationId: string, bytes: number): Promise<void> {
  const plan = await planOf(db, organizationId)
  const account = await get(db, organizationId)
  if (account.usedBytes + account.reservedBytes + bytes > plan.storageBytes) throw exceeded(account, bytes, plan)
}

/** Promises room to an upload or a job. 402 when used, promised and wanted bytes together are more than the plan holds. */
export async function reserve(tx: Tx, organizationId: string, bytes: number): Promise<void> {
  requireCount(bytes)
  const plan = await planOf(tx, organizationId)
  const done = await sql`
    update storage_account set reserved_bytes = reserved_bytes + ${bytes} where org_id = ${organizationId}
      and used_bytes + reserved_bytes + ${bytes} <= ${plan.storageBytes}
  `.execute(tx)
  if (done.numAffectedRows === 0n) throw exceeded(await get(tx, organizationId), bytes, plan)
}

/** Takes a promise back. */
export async function release(tx: Tx, organizationId: string, bytes: number): Promise<void> {
  requireCount(bytes)
  await sql`update storage_account set reserved_bytes = reserved_bytes - ${bytes} where org_id = ${organizationId}`.execute(tx)
}

/**
 * Ends a promise with what was stored in the end: 402 when that is more than was promised and the difference does not
 * fit. The bytes themselves are counted by the assets that the same transaction then makes; until it ends nobody else
 * can take the room.
 */
export async function settle(tx: Tx, organizationId: string, { reserved, stored }: { reserved: number; stored: number }): Promise<void> {
  await release(tx, organizationId, reserved)
  if (stored > reserved) await requireFreeBytes(tx, organizationId, stored)
}

/** 402 unless so many bytes fit. The row is held, so what fits now still fits when the transaction counts it. */
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

/** Counts bytes in or out, whether they fit or not: what is already there or paid for is not refused. */
export async function move(tx: Tx, organizationId: string, bytes: number): Promise<void> {
  if (bytes === 0) return
  await sql`update storage_account set used_bytes = used_bytes + ${bytes} where org_id = ${organizationId}`.execute(tx)
}

/** A fraction or a negative count would be a mistake of ours, and the constraint would see only some of them. */
function requireCount(bytes: number): void {
  if (!Number.isSafeInteger(bytes) || bytes < 0) throw new Error(`${bytes} is no count of bytes`)
}

function exceeded({ usedBytes, reservedBytes }: StorageAccount, bytes: number, plan: Plan): Problem {
  const used = usedBytes + reservedBytes
  const promised = reservedBytes > 0 ? `, ${reservedBytes} of them promised to uploads and jobs under way` : ''
  return problem(
    'storage-quota-exceeded',
    `${bytes} bytes do not fit: ${used} of the ${plan.storageBytes} bytes of the plan '${plan.name}' are taken${promised}. ` +
      `Delete what is no longer needed or change the plan.`,
    { members: { used, limit: plan.storageBytes } },
  )
}
