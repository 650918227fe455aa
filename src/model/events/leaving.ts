/** What becomes of webhooks and alert rules when the person behind them, or the whole organization, goes. */
import type { Tx } from '#db/tables.ts'
import { tell } from './notification.ts'
import * as subscriptions from './subscription.ts'

/** They rest until somebody else resumes them: what the person made stays, but tells them nothing any more. Admins hear of it. */
export async function restAllOf(tx: Tx, organizationId: string, userId: string, now: Date): Promise<void> {
  const paused = await subscriptions.pauseAllOf(tx, organizationId, userId, now)
  const { numUpdatedRows: rules } = await tx
    .updateTable('alert_rule')
    .set({ is_active: false, updated_at: now })
    .where('org_id', '=', organizationId)
    .where('user_id', '=', userId)
    .where('is_active', '=', true)
    .executeTakeFirstOrThrow()
  if (paused === 0 && rules === 0n) return
  const news = {
    kind: 'webhook' as const,
    title: 'Webhooks and alert rules rest',
    body:
      `Somebody left, and with them rest ${paused} webhooks and ${rules} alert rules of theirs. ` +
      'event_subscriptions.update and alerts.update_rule with active set to true resume them, in your name.',
    dedupeKey: null,
  }
  await tell(tx, organizationId, 'admins', [news], now)
}

/** With an organization that ends, its webhooks and rules do too, and what waited for them. */
export async function removeAll(tx: Tx, organizationId: string): Promise<void> {
  await tx.deleteFrom('webhook_backlog').where('org_id', '=', organizationId).execute()
  await tx.deleteFrom('event_subscription').where('org_id', '=', organizationId).execute()
  await tx.deleteFrom('alert_rule').where('org_id', '=', organizationId).execute()
  await tx.deleteFrom('notification').where('org_id', '=', organizationId).execute()
}
