import { HOOK_URL, type Org, type World } from '../../support/world.ts'
import { other } from '../makers.ts'
import type { Rows } from '../rows.ts'
import { NOBODY, READS_OWN } from '../statuses.ts'

const wanted = { event_type: 'collection.created', endpoint_url: HOOK_URL }

const subscription = async (w: World, org: Org) => {
  await makeRoom(w, org)
  return { subscription_id: (await w.ok(org.owner.token, 'event_subscriptions.create', wanted)).id as string }
}

/** An organization may have a hundred; a call for each principal would soon have made them. */
const makeRoom = async (w: World, org: Org) => {
  const { count, event_subscriptions: subscriptions } = await w.ok(org.owner.token, 'event_subscriptions.list')
  if (count < 50) return
  for (const { id } of subscriptions) await w.ok(org.owner.token, 'event_subscriptions.delete', { subscription_id: id })
}

/** A delivery that has failed once. */
const delivery = async (w: World, org: Org) => {
  const { subscription_id } = await subscription(w, org)
  await w.ok(org.owner.token, 'collections.create', { project_id: org.projectId, name: 'Told of' })
  const { id } = await w.db
    .updateTable('webhook_delivery')
    .set({ tries: 1 })
    .where('subscription_id', '=', subscription_id)
    .returning('id')
    .executeTakeFirstOrThrow()
  return { delivery_id: id }
}

const otherSubscription = other('subscription_id')

/** The creator is the owner here: other members can only read it. */
const CHANGES = {
  a: `${NOBODY} | 200 200 403 403 | 404 403 | 403 200 403 | 403 403 200 403`,
  b: `${NOBODY} | 404 404 404 404 | 200 403 | 403 404 403 | 403 403 404 403`,
}
/** Every member sends a failed delivery again: it goes where it was to go. */
const RETRIES = { ...CHANGES, a: `${NOBODY} | 200 200 200 200 | 404 403 | 403 200 403 | 403 403 200 403` }
const READS = {
  a: `${NOBODY} | 200 200 200 200 | 404 403 | 200 200 200 | 403 403 200 403`,
  b: `${NOBODY} | 404 404 404 404 | 200 403 | 404 404 404 | 403 403 404 403`,
}

export const rows: Rows = {
  'event_subscriptions.create': {
    a: `${NOBODY} | 200 200 200 200 | 200 403 | 403 200 403 | 403 403 200 403`,
    input: async (w, org) => {
      await makeRoom(w, org)
      return wanted
    },
    breaks: 'table event_subscription',
  },
  'event_subscriptions.delete': { ...CHANGES, input: subscription, missing: otherSubscription, breaks: 'table event_subscription' },
  'event_subscriptions.deliveries.list': { ...READS, input: subscription, missing: otherSubscription, breaks: 'table webhook_delivery' },
  'event_subscriptions.deliveries.retry': {
    ...RETRIES,
    input: delivery,
    missing: other('delivery_id'),
    breaks: 'table webhook_attempt',
  },
  'event_subscriptions.get': { ...READS, input: subscription, missing: otherSubscription, breaks: 'table webhook_delivery' },
  'event_subscriptions.list': { ...READS_OWN, input: () => ({}), breaks: 'table event_subscription' },
  'event_subscriptions.test': { ...CHANGES, input: subscription, missing: otherSubscription, breaks: 'table event_subscription' },
  'event_subscriptions.update': {
    ...CHANGES,
    input: async (w, org) => ({ ...(await subscription(w, org)), description: 'Changed' }),
    missing: otherSubscription,
    breaks: 'column event_subscription.updated_at',
  },
}
