/** What happens to webhooks, alert rules, saved searches and draft orders when their user leaves or the organization is deleted. */
import type { Tx } from '#db/tables.ts'
import { notify } from './notification.ts'
import * as maps from '#model/imagery/map.ts'
import * as drafts from '#model/orders/draft.ts'
import * as savedSearches from '#model/scenes/saved-search.ts'
import * as subscriptions from './subscription.ts'

/** Pauses them until another user resumes them, and notifies the admins. */
export async function pauseAllOf(tx: Tx, organizationId: string, userId: string, now: Date): Promise<void> {
  const paused = await subscriptions.pauseAllOf(tx, organizationId, userId, now)
  const { numUpdatedRows: rules } = await tx
    .updateTable('alert_rule')
    .set({ is_active: false, updated_at: now })
    .where('org_id', '=', organizationId)
    .where('user_id', '=', userId)
    .where('is_active', '=', true)
    .executeTakeFirstOrThrow()
  const searches = await savedSearches.pauseAllOf(tx, organizationId, userId)
  await drafts.removeAllOf(tx, organizationId, userId)
  if (paused === 0 && rules === 0n && searches === 0) return
  const news = {
    kind: 'webhook' as const,
    title: 'Webhooks and alert rules paused',
    body:
      `A member left the organization, so their ${paused} webhooks, ${rules} alert rules and ${searches} saved searches are paused. ` +
      'To resume them with your own access, set active to true with event_subscriptions.update, alerts.update_rule and ' +
      'saved_searches.update.',
    dedupeKey: null,
  }
  await notify(tx, organizationId, 'admins', [news], now)
}

/** Deletes the webhooks and alert rules of a deleted organization, with everything queued for them. */
export async function removeAll(tx: Tx, organizationId: string): Promise<void> {
  await tx.deleteFrom('webhook_backlog').where('org_id', '=', organizationId).execute()
  await subscriptions.removeAllOf(tx, organizationId)
  await savedSearches.removeAllOf(tx, { organizationId })
  await maps.removeAllOf(tx, { organizationId, projectId: null })
  await drafts.removeAllOf(tx, organizationId, null)
  await tx.deleteFrom('alert_rule').where('org_id', '=', organizationId).execute()
  await tx.deleteFrom('notification').where('org_id', '=', organizationId).execute()
}
