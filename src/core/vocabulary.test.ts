import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { world } from '../../test/support/world.ts'
import { METERS } from './meters.ts'
import * as words from './vocabulary.ts'

const LISTS: Readonly<Record<string, readonly string[]>> = {
  'organization.enterprise_status': words.ENTERPRISE_STATUSES,
  'organization_member.role': words.ORGANIZATION_ROLES,
  'project.visibility': words.VISIBILITIES,
  'project_member.role': words.PROJECT_ROLES,
  'invitation.role': words.PROJECT_ROLES,
  'invitation.organization_role': words.INVITED_ROLES,
  'invitation.outcome': words.INVITATION_OUTCOMES,
  'idempotency_claim.state': words.CLAIM_STATES,
  'lineage_node.entity_type': words.ARTIFACTS,
  'item.type': words.ITEM_TYPES,
  'item.lifecycle_state': words.LIFECYCLE_STATES,
  'asset.state': words.ASSET_STATES,
  'upload_session.state': words.UPLOAD_STATES,
  'upload_file.state': words.UPLOAD_FILE_STATES,
  'visualization_profile.layer': words.PROFILE_LAYERS,
  'visualization_profile.type': words.PROFILE_TYPES,
  'processing_job.status': words.JOB_STATUSES,
  'share_link.target_type': words.SHARE_TARGETS,
  'share_link.permission': words.SHARE_PERMISSIONS,
  'usage_day.meter': METERS,
  'imagery_order.order_type': words.ORDER_TYPES,
  'imagery_order.status': words.ORDER_STATUSES,
  'imagery_order.sub_status': words.ORDER_SUB_STATUSES,
  'imagery_order.billing_mode': words.BILLING_MODES,
  'order_group.status': words.ORDER_GROUP_STATUSES,
  'order_group.sub_status': words.ORDER_SUB_STATUSES,
  'feasibility_study.state': words.STUDY_STATES,
  'feasibility_study.decision': words.STUDY_DECISIONS,
  'quotation.state': words.STORED_QUOTATION_STATES,
  'quotation.decision': words.QUOTATION_DECISIONS,
  'alert_rule.comparison': words.ALERT_COMPARISONS,
  'sso_connection.default_role': words.INVITED_ROLES,
  'sso_connection.status': words.SSO_STATUSES,
  'sso_rules.domain_role': words.INVITED_ROLES,
  'webhook_delivery.state': words.DELIVERY_STATES,
  'event_subscription.last_status': words.DELIVERY_STATUSES,
  'notification.kind': words.NOTIFICATION_KINDS,
  'app_user.notification_mail': words.NOTIFICATION_MAILS,
  'mail_token.purpose': words.MAIL_TOKEN_PURPOSES,
  'sign_in_challenge.purpose': words.CHALLENGE_PURPOSES,
}

// Goal: the lists that type a row's values match the database's check constraints exactly.
test('vocabulary', async (t) => {
  const w = await world(t)
  const { rows } = await sql<{ column: string; definition: string }>`
    select c.conrelid::regclass || '.' || a.attname as column, pg_get_constraintdef(c.oid) as definition
    from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
    where c.contype = 'c' and cardinality(c.conkey) = 1 and c.connamespace = 'public'::regnamespace
  `.execute(w.db)
  const checked = new Map(
    rows
      .filter(({ definition }) => definition.includes('= ANY (ARRAY['))
      .map(({ column, definition }) => [column, Array.from(definition.matchAll(/'([^']+)'::text/g), ([, word]) => word)]),
  )
  for (const [column, list] of Object.entries(LISTS)) assert.deepEqual(checked.get(column)?.toSorted(), list.toSorted(), column)
})
