/** Recounts totals from their entries: the wallet from the ledger, the storage account from its assets. */
import { sql } from 'kysely'
import { countedBytes } from '#model/imagery/item-metadata.ts'
import { newId } from '#core/ids.ts'
import type { Tx } from '#db/tables.ts'
import { lockWallet } from './billing-account.ts'
import * as ledgers from './ledger.ts'

interface Count {
  recorded: number
  counted: number
}

interface Reconciliation {
  id: string
  storage: Count
  available: Count
  reserved: Count
  hasDrift: boolean
  at: Date
}

export async function reconcile(tx: Tx, organizationId: string, thresholdBytes: number, now: Date): Promise<Reconciliation> {
  const wallet = await lockWallet(tx, organizationId) // Credits cannot move while they are counted.
  const entries = await ledgers.recount(tx, organizationId)
  const storage = await storedBytes(tx, organizationId)
  const hasDrift =
    Math.abs(storage.recorded - storage.counted) > thresholdBytes ||
    wallet.available !== entries.available ||
    wallet.reserved !== entries.reserved
  const id = newId()
  await tx
    .insertInto('reconciliation')
    .values({
      id,
      org_id: organizationId,
      stored_bytes: storage.recorded,
      counted_bytes: storage.counted,
      available: wallet.available,
      counted_available: entries.available,
      reserved: wallet.reserved,
      counted_reserved: entries.reserved,
      has_drift: hasDrift,
      created_at: now,
    })
    .execute()
  return {
    id,
    storage,
    available: { recorded: wallet.available, counted: entries.available },
    reserved: { recorded: wallet.reserved, counted: entries.reserved },
    hasDrift,
    at: now,
  }
}

async function storedBytes(tx: Tx, organizationId: string): Promise<Count> {
  const { rows } = await sql<Count>`
    select (select used_bytes from storage_account where org_id = ${organizationId}) as recorded,
      (
        select coalesce(sum(asset.file_size_bytes), 0)::bigint
        from asset join item on item.seq = asset.item_seq
        where asset.org_id = ${organizationId} and item.deleted_at is null and asset.object_key is not null
      ) + (
        select coalesce(sum(${countedBytes('item')}), 0)::bigint from item where org_id = ${organizationId} and deleted_at is null
      ) + (
        select coalesce(sum(size_bytes), 0)::bigint from kept_file where org_id = ${organizationId}
      ) as counted`.execute(tx)
  return rows[0]!
}
