import type { Selectable } from 'kysely'
import type { Db, ReservationState, Tables, Tx } from '#db/tables.ts'
import type { Reference } from './ledger.ts'

export type Reservation = Selectable<Tables['reservation']>

/** Locked until the transaction ends: whoever settles a reservation first is the only one. */
export async function lock(tx: Tx, organizationId: string, reference: Reference): Promise<Reservation | null> {
  return (
    (await tx
      .selectFrom('reservation')
      .selectAll()
      .where('org_id', '=', organizationId)
      .where('reference_type', '=', reference.type)
      .where('reference_id', '=', reference.id)
      .forUpdate()
      .executeTakeFirst()) ?? null
  )
}

export async function find(db: Db, id: string): Promise<Reservation | null> {
  return (await db.selectFrom('reservation').selectAll().where('id', '=', id).executeTakeFirst()) ?? null
}

export interface Change {
  from: readonly ReservationState[]
  to: ReservationState
  capturedCredits?: number
  failure?: string | null
}

/** For reservations that no credits of the wallet stand behind; the ledger changes the others. False: it is not in such a state. */
export async function move(tx: Tx, id: string, { from, to, capturedCredits, failure }: Change, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('reservation')
    .set({
      state: to,
      settled_at: to === 'captured' || to === 'released' ? now : null,
      ...(capturedCredits === undefined ? {} : { captured_credits: capturedCredits }),
      ...(failure === undefined ? {} : { failure }),
    })
    .where('id', '=', id)
    .where((or) => or.or([or('mode', '<>', 'credit'), or('credits', '=', 0)]))
    .where('state', 'in', [...from])
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Decided, but not done at the processor's; and live ones whose time is over. */
export async function unsettled(
  db: Db,
  { organizationId, now, limit }: { organizationId: string | null; now: Date; limit: number },
): Promise<Reservation[]> {
  const own = db
    .selectFrom('reservation')
    .selectAll()
    .$if(organizationId !== null, (query) => query.where('org_id', '=', organizationId!))
  const decided = await own.where('state', 'in', ['capturing', 'releasing']).orderBy('created_at').limit(limit).execute()
  const overdue = await own
    .where('state', '=', 'live')
    .where('deadline_at', '<=', now)
    .orderBy('deadline_at')
    .limit(limit - decided.length)
    .execute()
  return [...decided, ...overdue]
}
