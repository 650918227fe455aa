/**
 * The values that the database's check constraints allow, each list once: rows, records and wire schemas take their types from here. A
 * test compares the lists with the constraints, so that query results need no cast.
 */

/** Whether a value is in a list. */
export const isIn = <W extends string>(words: readonly W[], word: string): word is W => (words as readonly string[]).includes(word)

export const ORGANIZATION_ROLES = ['owner', 'admin', 'member'] as const
export type OrganizationRole = (typeof ORGANIZATION_ROLES)[number]

/** Roles an invitation can give; only an owner can appoint an owner. */
export const INVITED_ROLES = ['admin', 'member'] as const
export type InvitedRole = (typeof INVITED_ROLES)[number]

export const ENTERPRISE_STATUSES = ['none', 'requested', 'confirmed'] as const
export type EnterpriseStatus = (typeof ENTERPRISE_STATUSES)[number]

/** Whether a vendor accepted the credentials of an organization's account when it was last asked. */
export const VENDOR_ACCOUNT_STATUSES = ['unchecked', 'accepted', 'refused'] as const
export type VendorAccountStatus = (typeof VENDOR_ACCOUNT_STATUSES)[number]

export const VISIBILITIES = ['organization', 'private'] as const
export type Visibility = (typeof VISIBILITIES)[number]

export const PROJECT_ROLES = ['admin', 'editor', 'viewer'] as const
export type ProjectRole = (typeof PROJECT_ROLES)[number]

/** Regions for buckets. No constraint lists them; only `projects.create` writes one. */
export const REGIONS = ['australia-southeast1', 'asia-southeast1', 'us-west1', 'europe-west1'] as const
export type Region = (typeof REGIONS)[number]

export const INVITATION_OUTCOMES = ['accepted', 'withdrawn', 'expired'] as const
export type InvitationOutcome = (typeof INVITATION_OUTCOMES)[number]

export const CLAIM_STATES = ['running', 'free', 'done'] as const
export type ClaimState = (typeof CLAIM_STATES)[number]

/** Artifacts with a lineage. */
export const ARTIFACTS = ['order', 'item', 'asset', 'processing_job', 'report', 'share_link', 'collection', 'project'] as const
export type Artifact = (typeof ARTIFACTS)[number]

export const ITEM_TYPES = [
  'satellite_capture',
  'derived_raster',
  'derived_vector',
  'clip',
  'user_raster',
  'user_vector',
  'external_reference',
  'mosaic',
] as const
export type ItemType = (typeof ITEM_TYPES)[number]

export const LIFECYCLE_STATES = ['active', 'expiring', 'archived', 'expired', 'deleted'] as const
export type LifecycleState = (typeof LIFECYCLE_STATES)[number]

/** `converting`: the file is being converted and cannot be shown yet. */
export const ASSET_STATES = ['ready', 'converting'] as const
export type AssetState = (typeof ASSET_STATES)[number]

export const UPLOAD_STATES = ['initiated', 'uploading', 'completed', 'failed'] as const
export type UploadState = (typeof UPLOAD_STATES)[number]

export const UPLOAD_FILE_STATES = ['awaiting', 'refused', 'converting', 'ready', 'failed'] as const
export type UploadFileState = (typeof UPLOAD_FILE_STATES)[number]

export const PROFILE_LAYERS = ['sensor', 'auto', 'user'] as const
export type ProfileLayer = (typeof PROFILE_LAYERS)[number]

export const PROFILE_TYPES = ['rgb', 'singleband', 'multiband', 'expression'] as const
export type ProfileType = (typeof PROFILE_TYPES)[number]

export const SHARE_TARGETS = ['item', 'collection', 'map'] as const
export type ShareTarget = (typeof SHARE_TARGETS)[number]

/** How a layer of a map is combined with what is below it. No constraint lists them; only maps contain one. */
export const BLEND_MODES = ['normal', 'multiply', 'screen', 'darken', 'lighten', 'add'] as const
export type BlendMode = (typeof BLEND_MODES)[number]

export const SHARE_PERMISSIONS = ['view', 'download'] as const
export type SharePermission = (typeof SHARE_PERMISSIONS)[number]

export const JOB_STATUSES = ['pending', 'dispatched', 'running', 'completed', 'failed', 'cancelled'] as const
export type JobStatus = (typeof JOB_STATUSES)[number]
/** How results are returned: every output by name, or the value of the only one. */
export const JOB_RESPONSES = ['raw', 'document'] as const
export type JobResponse = (typeof JOB_RESPONSES)[number]
/** The only output of every process. */
export const JOB_OUTPUTS = ['items'] as const

export const ORDER_TYPES = ['archive', 'tasking'] as const
export type OrderType = (typeof ORDER_TYPES)[number]

export const ORDER_STATUSES = ['pending', 'processing', 'awaiting_data', 'fulfilled', 'failed', 'cancelled'] as const
export type OrderStatus = (typeof ORDER_STATUSES)[number]

/** How far customer and vendor have agreed on a tasking order. */
export const ORDER_SUB_STATUSES = [
  'awaiting_feasibility',
  'feasibility_ready',
  'awaiting_quotation',
  'quotation_ready',
  'accepted',
  'rejected',
] as const
export type OrderSubStatus = (typeof ORDER_SUB_STATUSES)[number]

/** `deciding`: a study or a quotation comes first; `part`: delivered in part. */
export const ORDER_GROUP_STATUSES = [
  'deciding',
  'waiting',
  'placed',
  'accepted',
  'delivering',
  'delivered',
  'part',
  'failed',
  'cancelled',
] as const
export type OrderGroupStatus = (typeof ORDER_GROUP_STATUSES)[number]

export const BILLING_MODES = ['credit', 'card', 'enterprise'] as const

export const STUDY_STATES = ['waiting', 'answered', 'infeasible'] as const
export type StudyState = (typeof STUDY_STATES)[number]

/** As stored. */
export const STORED_QUOTATION_STATES = ['waiting', 'issued', 'refused'] as const
export type QuotationState = (typeof STORED_QUOTATION_STATES)[number]
/** As customers see it: `expired` also if the vendor declined or the order ended. */
export const QUOTATION_STATES = ['requested', 'issued', 'expired', 'decided'] as const

export const STUDY_DECISIONS = ['NOT_DECIDED', 'ACCEPTED'] as const
export type StudyDecision = (typeof STUDY_DECISIONS)[number]

export const QUOTATION_DECISIONS = ['NOT_DECIDED', 'ACCEPTED', 'REJECTED'] as const
export type QuotationDecision = (typeof QUOTATION_DECISIONS)[number]

export const ALERT_COMPARISONS = ['lt', 'gt', 'eq', 'between'] as const
export type AlertComparison = (typeof ALERT_COMPARISONS)[number]

/** `held`: the subscription is paused. */
export const DELIVERY_STATES = ['pending', 'held', 'delivered', 'dead'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

export const DELIVERY_STATUSES = ['delivered', 'failed'] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

export const NOTIFICATION_KINDS = [
  'alert',
  'decision',
  'approval',
  'payment',
  'webhook',
  'retention',
  'invitation',
  'search',
  'comment',
] as const
export type NotificationKind = (typeof NOTIFICATION_KINDS)[number]

/** When a user's notifications are also sent by email. */
export const NOTIFICATION_MAILS = ['none', 'instant', 'daily'] as const
export type NotificationMail = (typeof NOTIFICATION_MAILS)[number]

/** How numbers and dates are written; texts are English. */
export const LANGUAGES = ['en-AU', 'en-GB', 'en-US', 'de-DE', 'es-ES', 'fr-FR', 'it-IT', 'ja-JP', 'nl-NL', 'pt-BR', 'sv-SE'] as const
export type Language = (typeof LANGUAGES)[number]

export const UNITS = ['metric', 'imperial'] as const
export type Units = (typeof UNITS)[number]

/** What a challenge is for: a second factor at sign-in, a sign-in by passkey alone, a new passkey, or proof that the user is present. */
export const CHALLENGE_PURPOSES = ['second_factor', 'passkey', 'new_passkey', 'proof'] as const
export type ChallengePurpose = (typeof CHALLENGE_PURPOSES)[number]
/** Whether the provider of a connection was found at its last check. */
export const SSO_STATUSES = ['verified', 'failed'] as const
export type SsoStatus = (typeof SSO_STATUSES)[number]

export const MAIL_TOKEN_PURPOSES = ['reset', 'confirm'] as const
export type MailTokenPurpose = (typeof MAIL_TOKEN_PURPOSES)[number]
