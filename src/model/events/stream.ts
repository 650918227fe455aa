/**
 * The outbox as a stream. Events stand in the order of the transactions that wrote them, and are shown once every older
 * transaction has ended: what a reader has passed can then never get a predecessor, which a sequence could not promise.
 */
import { sql } from 'kysely'
import { isUuid } from '#core/ids.ts'
import type { ToldEvent } from '#core/webhooks.ts'
import type { Db } from '#db/tables.ts'

/** A place between two events. Transactions have 64 bits, so their numbers are text here. */
export interface Position {
  txid: string
  seq: number
}

export interface StreamedEvent extends ToldEvent {
  position: Position
  /** Who is a member of the private project that it is about; null where everybody of the organization may read it. */
  readers: string[] | null
}

export const isBefore = (a: Position, b: Position): boolean => (a.txid === b.txid ? a.seq < b.seq : BigInt(a.txid) < BigInt(b.txid))

/** What was committed at one moment: everything below `end` but those that were still under way. */
export interface Moment {
  /** Behind everything that is shown by now. */
  head: Position
  end: bigint
  underWay: ReadonlySet<string>
}

export async function now(db: Db): Promise<Moment> {
  const { rows } = await sql<{ snapshot: string }>`select pg_current_snapshot()::text as snapshot`.execute(db)
  const [first, end, underWay] = rows[0]!.snapshot.split(':') as [string, string, string]
  return { head: { txid: first, seq: 0 }, end: BigInt(end), underWay: new Set(underWay.split(',')) }
}

/** An event may be shown long after it was committed, while an older transaction is under way. */
export const wasCommitted = ({ txid }: Position, { end, underWay }: Moment): boolean => BigInt(txid) < end && !underWay.has(txid)

/** Null: no event of this organization. */
export async function positionOf(db: Db, organizationId: string, eventId: string): Promise<Position | null> {
  if (!isUuid(eventId)) return null
  const { rows } = await sql<Position>`
    select txid::text as txid, seq from event where id = ${eventId} and org_id = ${organizationId}
  `.execute(db)
  return rows[0] ?? null
}

interface StreamRow extends Omit<StreamedEvent, 'position'>, Position {}

/** What follows each of these places, so many of each organization. */
export async function after(
  db: Db,
  places: readonly { organizationId: string; position: Position }[],
  limit: number,
): Promise<StreamedEvent[]> {
  const { rows } = await sql<StreamRow>`
    select e.txid::text as txid, e.seq, e.id, e.type, e.org_id as "organizationId", e.entity_type as "entityType",
      e.entity_id as "entityId", e.data, e.occurred_at as "occurredAt",
      case when p.visibility = 'private'
        then array(select m.user_id::text from project_member m where m.project_id = e.project_id) end as readers
    from unnest(${places.map(({ organizationId }) => organizationId)}::uuid[],
      ${places.map(({ position }) => position.txid)}::text[]::xid8[],
      ${places.map(({ position }) => position.seq)}::bigint[]) as place (org_id, txid, seq)
    cross join lateral (
      select * from event e
      where e.org_id = place.org_id and (e.txid, e.seq) > (place.txid, place.seq)
        and e.txid < pg_snapshot_xmin(pg_current_snapshot())
      order by e.txid, e.seq limit ${limit}
    ) e
    left join project p on p.id = e.project_id
    order by e.org_id, e.txid, e.seq
  `.execute(db)
  return rows.map(({ txid, seq, ...event }) => ({ ...event, position: { txid, seq } }))
}
