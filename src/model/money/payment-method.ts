/** The cards that an organization has saved at the payment processor; one of them is the default. */
import { newId, isUuid } from '#core/ids.ts'
import type { Card } from '#ports/payments.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import { lockWallet } from './billing-account.ts'

const COLUMNS = [
  'id',
  'processor_id as processorId',
  'brand',
  'last4',
  'exp_month as expMonth',
  'exp_year as expYear',
  'is_default as isDefault',
] as const

export type SavedCard = Row<'payment_method', typeof COLUMNS>

const saved = (db: Db, organizationId: string) =>
  db.selectFrom('payment_method').select(COLUMNS).where('org_id', '=', organizationId).where('detached_at', 'is', null)

export async function list(db: Db, organizationId: string): Promise<SavedCard[]> {
  return await saved(db, organizationId).orderBy('created_at', 'desc').orderBy('id', 'desc').execute()
}

export async function find(db: Db, organizationId: string, id: string): Promise<SavedCard | null> {
  if (!isUuid(id)) return null
  return (await saved(db, organizationId).where('id', '=', id).executeTakeFirst()) ?? null
}

export async function findDefault(db: Db, organizationId: string): Promise<SavedCard | null> {
  return (await saved(db, organizationId).where('is_default', '=', true).executeTakeFirst()) ?? null
}

/** The first card becomes the default. Returns the existing record if the card is already saved. */
export async function insert(tx: Tx, organizationId: string, card: Card, now: Date): Promise<{ card: SavedCard; isNew: boolean }> {
  await lockWallet(tx, organizationId)
  const existing = await saved(tx, organizationId).where('processor_id', '=', card.id).executeTakeFirst()
  if (existing) return { card: existing, isNew: false }
  const isFirst = (await findDefault(tx, organizationId)) === null
  const row = await tx
    .insertInto('payment_method')
    .values({
      id: newId(),
      org_id: organizationId,
      processor_id: card.id,
      brand: card.brand,
      last4: card.last4,
      exp_month: card.expMonth,
      exp_year: card.expYear,
      is_default: isFirst,
      created_at: now,
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
  return { card: row, isNew: true }
}

/** Returns null if it was removed meanwhile. */
export async function setDefault(tx: Tx, organizationId: string, id: string): Promise<SavedCard | null> {
  await lockWallet(tx, organizationId)
  await tx
    .updateTable('payment_method')
    .set({ is_default: false })
    .where('org_id', '=', organizationId)
    .where('is_default', '=', true)
    .where('id', '<>', id)
    .execute()
  return (
    (await tx
      .updateTable('payment_method')
      .set({ is_default: true })
      .where('org_id', '=', organizationId)
      .where('id', '=', id)
      .where('detached_at', 'is', null)
      .returning(COLUMNS)
      .executeTakeFirst()) ?? null
  )
}

export async function detach(tx: Tx, organizationId: string, id: string, now: Date): Promise<SavedCard | null> {
  await lockWallet(tx, organizationId)
  return (
    (await tx
      .updateTable('payment_method')
      .set({ is_default: false, detached_at: now })
      .where('org_id', '=', organizationId)
      .where('id', '=', id)
      .where('detached_at', 'is', null)
      .returning(COLUMNS)
      .executeTakeFirst()) ?? null
  )
}
