import { newId } from '#core/ids.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'

const COLUMNS = [
  'id',
  'user_id as userId',
  'name',
  'credential_id as credentialId',
  'public_key as publicKey',
  'counter',
  'transports',
  'is_synced as isSynced',
  'created_at as createdAt',
  'last_used_at as lastUsedAt',
] as const

export type Passkey = Row<'passkey', typeof COLUMNS>

export async function list(db: Db, userId: string): Promise<Passkey[]> {
  return await db.selectFrom('passkey').select(COLUMNS).where('user_id', '=', userId).orderBy('created_at').orderBy('id').execute()
}

export async function findByCredential(db: Db, credentialId: string): Promise<Passkey | null> {
  return (await db.selectFrom('passkey').select(COLUMNS).where('credential_id', '=', credentialId).executeTakeFirst()) ?? null
}

export type NewPasskey = Omit<Passkey, 'id' | 'createdAt' | 'lastUsedAt'>

/** Null if the passkey is known already. */
export async function insert(tx: Tx, passkey: NewPasskey, now: Date): Promise<Passkey | null> {
  const row = await tx
    .insertInto('passkey')
    .values({
      id: newId(),
      user_id: passkey.userId,
      name: passkey.name,
      credential_id: passkey.credentialId,
      public_key: passkey.publicKey,
      counter: passkey.counter,
      transports: passkey.transports,
      is_synced: passkey.isSynced,
      created_at: now,
    })
    .onConflict((conflict) => conflict.column('credential_id').doNothing())
    .returning(COLUMNS)
    .executeTakeFirst()
  return row ?? null
}

export async function recordUse(db: Db, id: string, use: { counter: number; isSynced: boolean }, now: Date): Promise<void> {
  await db.updateTable('passkey').set({ counter: use.counter, is_synced: use.isSynced, last_used_at: now }).where('id', '=', id).execute()
}

/** The name of the passkey that was removed; null if the user has no such passkey. */
export async function remove(tx: Tx, userId: string, id: string): Promise<string | null> {
  const row = await tx.deleteFrom('passkey').where('id', '=', id).where('user_id', '=', userId).returning('name').executeTakeFirst()
  return row?.name ?? null
}
