/**
 * Every table, and what becomes of its rows when an organization moves to another installation or is erased. A test fails for a table
 * that is not listed.
 */

/**
 * `moves`: exported, and imported elsewhere. `written`: exported to be read, but history that no other installation continues.
 * `stays`: credentials and work of the moment, which must not leave the installation.
 */
type Move = 'moves' | 'written' | 'stays'

export interface OrgTable {
  readonly name: string
  readonly move: Move
  /** Selects the rows of an organization; `{org}` is its ID. */
  readonly where: string
  /** What the law requires to be kept when the organization is erased. */
  readonly isKept?: true
  /** Its rows let people in: they are deleted at once, before everything else. */
  readonly givesAccess?: true
  /** Its `id` is searched for in every table after the erasure. */
  readonly isSearchedFor?: true
  /** Expressions that are exported instead of columns. */
  readonly instead?: Readonly<Record<string, string>>
}

const OWN = 'org_id = {org}'
const PROJECTS = 'select id from project where org_id = {org}'
const own = (name: string, move: Move, more: Partial<OrgTable> = {}): OrgTable => ({ name, move, where: OWN, ...more })

/**
 * What is referred to comes first: rows can be imported in this order, and deleted in the opposite one. Accounts of people come before all
 * of them.
 */
export const ORG_TABLES: readonly OrgTable[] = [
  { name: 'organization', move: 'moves', where: 'id = {org}', isKept: true, isSearchedFor: true },
  own('organization_member', 'moves', { givesAccess: true }),
  own('map_backdrop', 'moves', { givesAccess: true }),
  own('organization_plan', 'moves'),
  own('project', 'moves', { isSearchedFor: true }),
  { name: 'project_member', move: 'moves', where: `project_id in (${PROJECTS})`, givesAccess: true },
  // Only who made a job: the key is revoked, and nobody knows its new secret.
  own('api_key', 'moves', {
    isSearchedFor: true,
    instead: {
      secret_hash: "sha256(convert_to(gen_random_uuid()::text, 'UTF8'))",
      is_active: 'false',
      revoked_at: 'coalesce(revoked_at, now())',
    },
  }),
  own('collection', 'moves'),
  own('item', 'moves', { isSearchedFor: true }),
  own('asset', 'moves'),
  own('item_cell', 'moves'),
  own('visualization_profile', 'moves'),
  own('band_formula', 'moves'),
  own('map', 'moves', { isSearchedFor: true }),
  own('map_comment', 'moves', { isSearchedFor: true }),
  own('upload_session', 'moves', { isSearchedFor: true }),
  {
    name: 'upload_file',
    move: 'moves',
    isSearchedFor: true,
    where: 'upload_id in (select id from upload_session where org_id = {org})',
    instead: { parts_id: 'null', part_bytes: 'null', parts_total_bytes: 'null', parts_have_md5: 'null' },
  },
  own('lineage_node', 'moves'),
  {
    name: 'lineage_edge',
    move: 'moves',
    where:
      'src_seq in (select seq from lineage_node where org_id = {org}) and dst_seq in (select seq from lineage_node where org_id = {org})',
  },
  own('processing_job', 'moves', { isSearchedFor: true }),
  own('wallet', 'moves', { isKept: true, instead: { customer_id: 'null', auto_enabled: 'false' } }),
  own('reservation', 'moves', { isKept: true, isSearchedFor: true }),
  own('agreed_spend', 'moves', { isKept: true }),
  own('ledger_transfer', 'moves', { isKept: true }),
  own('invoice', 'moves', { isKept: true, isSearchedFor: true, instead: { processor_invoice_id: 'null' } }),
  own('accrual_entry', 'moves', { isKept: true }),
  own('commitment', 'moves', { isKept: true }),
  own('payment_attempt', 'moves', { isKept: true }),
  own('approval', 'moves'),
  own('licence_acceptance', 'moves'),
  own('imagery_order', 'moves', { isSearchedFor: true }),
  own('order_group', 'moves', { isSearchedFor: true, instead: { vendor_account_id: 'null' } }),
  own('feasibility_study', 'moves'),
  own('quotation', 'moves'),
  own('tasking_template', 'moves'),
  own('saved_search', 'moves', { isSearchedFor: true }),
  own('saved_scene', 'moves'),
  own('reported_scene', 'moves'),
  own('order_draft', 'stays'),
  own('alert_rule', 'moves'),
  own('alert_event', 'moves'),
  own('storage_account', 'moves'),
  own('usage_day', 'moves'),
  own('event', 'written'),
  own('audit', 'written'),
  own('egress_log', 'written'),
  own('notification', 'written'),
  own('reconciliation', 'written'),
  own('alert_evaluation', 'stays'),
  own('egress_account', 'stays'),
  own('egress_minute', 'stays'),
  own('event_subscription', 'stays', { isSearchedFor: true }),
  own('invitation', 'stays', { givesAccess: true }),
  own('job_part', 'stays'),
  own('job_step', 'stays'),
  own('kept_file', 'stays'),
  own('payment_method', 'stays'),
  own('share_link', 'stays', { givesAccess: true }),
  // Providers know one installation by its address, and domains are proved to one.
  own('sso_connection', 'stays', { givesAccess: true }),
  own('sso_domain', 'stays', { givesAccess: true }),
  own('sso_identity', 'stays', { givesAccess: true }),
  own('sso_rules', 'stays', { givesAccess: true }),
  own('vendor_account', 'stays'),
  own('webhook_backlog', 'stays'),
  {
    name: 'webhook_delivery',
    move: 'stays',
    where: 'subscription_id in (select id from event_subscription where org_id = {org})',
  },
  {
    name: 'webhook_attempt',
    move: 'stays',
    where: `delivery_id in (
      select d.id from webhook_delivery d join event_subscription s on s.id = d.subscription_id where s.org_id = {org})`,
  },
  own('user_session', 'stays'),
  own('sso_session', 'stays', { givesAccess: true }),
  {
    name: 'refresh_token',
    move: 'stays',
    where: 'session_id in (select id from user_session where org_id = {org})',
  },
]

/** Accounts of people, exported without anything that signs in. */
export const USERS: OrgTable = {
  name: 'app_user',
  move: 'moves',
  where: 'id in ({users})',
  instead: {
    password_hash: "'!'",
    is_active: 'true',
    is_system_admin: 'false',
    is_clip_user: 'false',
    last_org_id: 'null',
    email_confirmed_at: 'null',
  },
}

/**
 * Tables of the installation as a whole. Those with identifiers of an organization are cleared by rules of their own in `erase.ts`, or
 * expire within a day.
 */
export const OTHER_TABLES: readonly string[] = [
  'app_user',
  'mail_token',
  'email_change',
  'passkey',
  'recovery_code',
  'sign_in_challenge',
  'totp_factor',
  'idempotency_claim',
  'orphan_object',
  'processor_event',
  'rate_window',
  'erasing',
  'erasing_id',
  'erasure',
  'access_log',
  'event_epoch',
  'installation',
  'kysely_migration',
  'replica_mark',
  'schema_floor',
  'shared_secret',
  'signing_key',
  'sweep_round',
  'trace_link',
  'vendor_host',
  'vendor_token',
]

/** Columns with a number that every installation counts by itself, by the table that counts it. */
export const COUNTED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  item: { seq: 'item' },
  asset: { item_seq: 'item' },
  item_cell: { seq: 'item' },
  visualization_profile: { item_seq: 'item' },
  lineage_node: { seq: 'lineage_node' },
  lineage_edge: { src_seq: 'lineage_node', dst_seq: 'lineage_node' },
  ledger_transfer: { seq: 'ledger_transfer' },
  accrual_entry: { seq: 'accrual_entry' },
}

/** Rows whose work has not ended: another installation cannot continue it, and an erasure would leave it without an owner. */
export const UNFINISHED: Readonly<Record<string, string>> = {
  orders: "select count(*) from imagery_order where org_id = {org} and status not in ('fulfilled', 'failed', 'cancelled')",
  jobs: "select count(*) from processing_job where org_id = {org} and status not in ('completed', 'failed', 'cancelled')",
  uploads: 'select count(*) from upload_session where org_id = {org} and closed_at is null',
  conversions: `
    select count(*) from upload_file f join upload_session u on u.id = f.upload_id where u.org_id = {org} and f.state = 'converting'`,
  reservations: "select count(*) from reservation where org_id = {org} and state not in ('captured', 'released')",
  payments: "select count(*) from payment_attempt where org_id = {org} and status in ('created', 'pending', 'authorized', 'held')",
  'unpaid invoices': "select count(*) from invoice where org_id = {org} and status <> 'paid'",
}
