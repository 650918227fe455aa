import { sql } from 'kysely'
import { isUuid, newId } from '#core/ids.ts'
import { isOrganizationAdmin, type Principal } from '#core/principal.ts'
import { invalidField, notFound, problem } from '#core/problem.ts'
import { DAY_MS } from '#core/time.ts'
import { newSecret } from '#core/webhooks.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'

const COLUMNS = [
  'id',
  'org_id as organizationId',
  'event_type as eventType',
  'endpoint_url as endpointUrl',
  'filter_config as filterConfig',
  'headers',
  'description',
  'is_active as isActive',
  'created_by as createdBy',
  'creator_id as creatorId',
  'created_at as createdAt',
  'updated_at as updatedAt',
  'last_delivery_at as lastDeliveryAt',
  'last_status as lastStatus',
  'consecutive_failures as consecutiveFailures',
  'previous_secret_until as previousSecretUntil',
] as const

export type Subscription = Row<'event_subscription', typeof COLUMNS>

export const MAX_SUBSCRIPTIONS = 100
const MAX_FILTERS = 20
const MAX_CHOICES = 100
const FILTER_PATH = /^(entity_type|entity_id|data(\.[A-Za-z0-9_]+)+)$/
/** How long a replaced secret still signs. */
const ROTATION_MS = DAY_MS

/** Keys must exist in events; values are scalars or lists of them. */
export function requireFilter(filter: Readonly<Record<string, unknown>>): void {
  const keys = Object.keys(filter)
  if (keys.length > MAX_FILTERS) throw invalidField('filter_config', `must have at most ${MAX_FILTERS} keys`)
  for (const key of keys) {
    if (!FILTER_PATH.test(key))
      throw invalidField(`filter_config.${key}`, "must be entity_type, entity_id or a path into the event's data, such as data.project_id")
    const value = filter[key]
    const choices = Array.isArray(value) ? value : [value]
    if (choices.length === 0 || choices.length > MAX_CHOICES || !choices.every(isPlain))
      throw invalidField(`filter_config.${key}`, `must be a string, number, boolean or null, or a list of 1 to ${MAX_CHOICES} of them`)
  }
}

const isPlain = (value: unknown): boolean => value === null || ['string', 'number', 'boolean'].includes(typeof value)

const MAX_HEADERS = 20
const MAX_HEADER_LENGTH = 1_000
const HEADER_NAME = /^[A-Za-z0-9][A-Za-z0-9-]{0,63}$/
const HEADER_VALUE = /^[\x20-\x7e]*$/
/** Headers that the service sets or that frame the message; customers cannot replace them. */
const RESERVED_PREFIX = /^(x-svc|webhook|content|proxy)-/i
const RESERVED_HEADERS = new Set(
  'host connection keep-alive transfer-encoding te trailer upgrade expect accept-encoding user-agent'.split(' '),
)

export function requireHeaders(headers: Readonly<Record<string, string>>): void {
  const names = Object.keys(headers)
  if (names.length > MAX_HEADERS) throw invalidField('headers', `must have at most ${MAX_HEADERS} entries`)
  if (new Set(names.map((name) => name.toLowerCase())).size < names.length) throw invalidField('headers', 'must not repeat a header')
  for (const name of names) {
    if (!HEADER_NAME.test(name)) throw invalidField('headers', 'header names must have 1 to 64 letters, digits and hyphens')
    if (RESERVED_PREFIX.test(name) || RESERVED_HEADERS.has(name.toLowerCase()))
      throw invalidField(`headers.${name}`, 'is reserved; the service sets it')
    if (headers[name]!.length > MAX_HEADER_LENGTH || !HEADER_VALUE.test(headers[name]!))
      throw invalidField(`headers.${name}`, `must be at most ${MAX_HEADER_LENGTH} printable ASCII characters`)
  }
}

export interface NewSubscription {
  organizationId: string
  eventType: string
  endpointUrl: string
  filterConfig: Record<string, unknown>
  headers: Record<string, string>
  description: string | null
}

/** The lock on the organization serializes creations, so that the limit holds. */
export async function insert(
  tx: Tx,
  principal: Principal,
  request: NewSubscription,
  now: Date,
): Promise<{ subscription: Subscription; secret: string }> {
  await sql`select 1 from organization where id = ${request.organizationId} for no key update`.execute(tx)
  const { count } = await tx
    .selectFrom('event_subscription')
    .select((e) => e.fn.countAll<number>().as('count'))
    .where('org_id', '=', request.organizationId)
    .executeTakeFirstOrThrow()
  if (count >= MAX_SUBSCRIPTIONS)
    throw problem('bad-request', `An organization can have at most ${MAX_SUBSCRIPTIONS} subscriptions; delete one you no longer need`)
  const secret = newSecret()
  const subscription = await tx
    .insertInto('event_subscription')
    .values({
      id: newId(),
      org_id: request.organizationId,
      user_id: principal.userId,
      created_by: principal.kind === 'user' ? principal.userId : null,
      creator_id: principal.userId,
      event_type: request.eventType,
      endpoint_url: request.endpointUrl,
      filter_config: JSON.stringify(request.filterConfig),
      headers: JSON.stringify(request.headers),
      description: request.description,
      secret,
      created_at: now,
      updated_at: now,
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
  return { subscription, secret }
}

export async function requireOf(db: Db, organizationId: string, id: string): Promise<Subscription> {
  const row = isUuid(id)
    ? await db.selectFrom('event_subscription').select(COLUMNS).where('org_id', '=', organizationId).where('id', '=', id).executeTakeFirst()
    : undefined
  if (!row) throw notFound('subscription')
  return row
}

/** For its creator (or the owner of the key that created it), admins, owners and the service itself. */
export async function requireChangeable(db: Db, principal: Principal, organizationId: string, id: string): Promise<Subscription> {
  const subscription = await requireOf(db, organizationId, id)
  const isCreator = principal.userId !== null && principal.userId === subscription.creatorId
  if (!isCreator && !isOrganizationAdmin(principal) && principal.kind !== 'service')
    throw problem('forbidden', "Only the webhook's creator, an admin or an owner can change, test or delete it")
  return subscription
}

export async function list(
  db: Db,
  organizationId: string,
  filter: { eventType: string | null; isActive: boolean | null },
): Promise<Subscription[]> {
  return await db
    .selectFrom('event_subscription')
    .select(COLUMNS)
    .where('org_id', '=', organizationId)
    .$if(filter.eventType !== null, (query) => query.where('event_type', '=', filter.eventType!))
    .$if(filter.isActive !== null, (query) => query.where('is_active', '=', filter.isActive!))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(MAX_SUBSCRIPTIONS)
    .execute()
}

export interface SubscriptionChange {
  endpointUrl?: string
  filterConfig?: Record<string, unknown>
  headers?: Record<string, string>
  description?: string | null
  isActive?: boolean
  rotateSecret?: boolean
  /** The user whose access counts from now on. */
  userId?: string | null
}

/** Queued deliveries wait while it is paused and then continue, to the new URL if it changed. */
export async function update(
  tx: Tx,
  id: string,
  change: SubscriptionChange,
  now: Date,
): Promise<{ subscription: Subscription; secret: string | null }> {
  const secret = change.rotateSecret ? newSecret() : null
  const row = await tx
    .updateTable('event_subscription')
    .set({
      updated_at: now,
      ...(change.endpointUrl === undefined ? {} : { endpoint_url: change.endpointUrl, headers: headersAt(change.endpointUrl) }),
      ...(change.filterConfig === undefined ? {} : { filter_config: JSON.stringify(change.filterConfig) }),
      ...(change.headers === undefined ? {} : { headers: JSON.stringify(change.headers) }),
      ...(change.description === undefined ? {} : { description: change.description }),
      ...(change.isActive === undefined ? {} : { is_active: change.isActive }),
      ...(change.userId === undefined ? {} : { user_id: change.userId }),
      ...(secret === null
        ? {}
        : { secret, previous_secret: sql<string>`secret`, previous_secret_until: new Date(now.getTime() + ROTATION_MS) }),
    })
    .where('id', '=', id)
    .returning(COLUMNS)
    .executeTakeFirst()
  if (!row) throw notFound('subscription')
  if (change.isActive !== undefined || change.endpointUrl !== undefined) await requeue(tx, id, row.isActive, now)
  return { subscription: row, secret }
}

/** Headers can contain secrets, so a changed URL clears them. */
const headersAt = (endpointUrl: string) => sql<string>`case when endpoint_url = ${endpointUrl} then headers else '{}' end`

async function requeue(tx: Tx, id: string, isActive: boolean, now: Date): Promise<void> {
  await sql`
    update webhook_delivery d set endpoint_key = s.endpoint_key, state = ${isActive ? 'pending' : 'held'},
      since = case when d.state = 'held' and ${isActive} then ${now} else d.since end
    from event_subscription s where s.id = ${id} and d.subscription_id = s.id and d.state in ('pending', 'held')
  `.execute(tx)
}

/** Pauses subscriptions that deliver with a user's access, in one organization or in all. Returns their number. */
export async function pauseAllOf(tx: Tx, organizationId: string | null, userId: string, now: Date): Promise<number> {
  const active = await tx
    .selectFrom('event_subscription')
    .select('id')
    .where('user_id', '=', userId)
    .$if(organizationId !== null, (query) => query.where('org_id', '=', organizationId!))
    .where('is_active', '=', true)
    .orderBy('id')
    .execute()
  for (const { id } of active) await update(tx, id, { isActive: false }, now)
  return active.length
}

/** Deletes it with its deliveries. Fails if it was deleted meanwhile. */
export async function remove(tx: Tx, id: string): Promise<void> {
  const result = await tx.deleteFrom('event_subscription').where('id', '=', id).executeTakeFirst()
  if (result.numDeletedRows === 0n) throw notFound('subscription')
  await removeDeliveries(tx, [id])
}

export async function removeAllOf(tx: Tx, organizationId: string): Promise<void> {
  const removed = await tx.deleteFrom('event_subscription').where('org_id', '=', organizationId).returning('id').execute()
  await removeDeliveries(
    tx,
    removed.map(({ id }) => id),
  )
}

/** After their subscriptions: whoever queues a delivery locks its subscription, so that none can be added by then. */
async function removeDeliveries(tx: Tx, subscriptionIds: readonly string[]): Promise<void> {
  await sql`
    with gone as (delete from webhook_delivery where subscription_id = any(${subscriptionIds}::uuid[]) returning id)
    delete from webhook_attempt a using gone where a.delivery_id = gone.id
  `.execute(tx)
}

/** The URL, headers and secrets for a delivery outside the queue. */
export async function signing(db: Db, id: string, now: Date): Promise<{ url: string; headers: Record<string, string>; secrets: string[] }> {
  const row = await db
    .selectFrom('event_subscription')
    .select(['endpoint_url as url', 'headers', 'secret', 'previous_secret as previous', 'previous_secret_until as until'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return { url: row.url, headers: row.headers, secrets: row.previous && row.until! > now ? [row.secret, row.previous] : [row.secret] }
}
