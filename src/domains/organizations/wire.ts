import Type, { type Static } from 'typebox'
import { Choice, Closed, Described, FreeForm, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import { ENTERPRISE_STATUSES, ORGANIZATION_ROLES } from '#core/vocabulary.ts'
import type { Member, Organization } from '#model/identity/organization.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'

const Text = Type.String({ maxLength: 2_000 })
const OptionalText = Type.Optional(Nullable(Text))

/** The profile of an organization. */
export const profileInput = {
  description: Described(OptionalText, 'Description of the organization'),
  website: Described(OptionalText, 'Website of the organization'),
  industry: Described(OptionalText, 'Industry, as free text'),
  size: Described(OptionalText, 'Organization size, as free text'),
  country: Described(OptionalText, 'Country as an ISO 3166 code; determines tax'),
  abn: Described(OptionalText, 'Australian Business Number'),
  tax_number: Described(OptionalText, 'Tax number'),
  billing_email: Described(OptionalText, 'Email address for invoices'),
  billing_admin_id: Described(Type.Optional(Nullable(Uuid)), 'User ID of the billing administrator, who can change payment details'),
  billing_address: Described(Type.Optional(Nullable(FreeForm)), 'Address printed on invoices'),
}

const Profile = Closed(profileInput)

export function toProfile(input: Static<typeof Profile>) {
  return {
    description: input.description ?? null,
    website: input.website ?? null,
    industry: input.industry ?? null,
    size: input.size ?? null,
    country: input.country ?? null,
    abn: input.abn ?? null,
    taxNumber: input.tax_number ?? null,
    billingEmail: input.billing_email ?? null,
    billingAdminId: input.billing_admin_id ?? null,
    billingAddress: input.billing_address ?? null,
  }
}

export const OrganizationRecord = Closed(
  {
    id: Described(Uuid, 'Organization ID'),
    name: Type.String({ description: 'Display name of the organization' }),
    slug: Type.String({ description: 'Unique short name for URLs' }),
    description: Described(Nullable(Type.String()), 'Description of the organization; null if none'),
    website: Described(Nullable(Type.String()), 'Website of the organization; null if none'),
    industry: Described(Nullable(Type.String()), 'Industry, as free text; null if not given'),
    size: Described(Nullable(Type.String()), 'Organization size, as free text; null if not given'),
    country: Described(Nullable(Type.String()), 'Country as an ISO 3166 code; determines tax; null if not given'),
    abn: Described(Nullable(Type.String()), 'Australian Business Number; null if not given'),
    tax_number: Described(Nullable(Type.String()), 'Tax number; null if not given'),
    billing_email: Described(Nullable(Type.String()), 'Email address for invoices; null if not given'),
    billing_admin_id: Described(Nullable(Uuid), 'User ID of the billing administrator; null if none'),
    billing_address: Described(Nullable(FreeForm), 'Address printed on invoices; null if not given'),
    default_project_id: Described(Nullable(Uuid), 'ID of the project that the console suggests for new work; null if none'),
    plan: Type.String({ description: 'Plan ID' }),
    billing_mode: Choice(['credit', 'card', 'enterprise'], { description: 'How spending is paid: credits, card or monthly invoice' }),
    enterprise_billing: Type.Boolean({ description: 'Whether monthly invoicing is active' }),
    enterprise_billing_status: Choice(ENTERPRISE_STATUSES, { description: 'Status of the request for monthly invoicing' }),
    allows_public_links: Type.Boolean({ description: 'Whether members can create share links without a password' }),
    created_at: Described(Timestamp, 'Creation time'),
  },
  { $id: 'Organization', description: 'An organization' },
)

export function toRecord(organization: Organization) {
  return {
    id: organization.id,
    name: organization.name,
    slug: organization.slug,
    description: organization.description,
    website: organization.website,
    industry: organization.industry,
    size: organization.size,
    country: organization.country,
    abn: organization.abn,
    tax_number: organization.taxNumber,
    billing_email: organization.billingEmail,
    billing_admin_id: organization.billingAdminId,
    billing_address: organization.billingAddress,
    default_project_id: organization.defaultProjectId,
    plan: organization.planId,
    billing_mode: organization.billingMode,
    // A request for enterprise billing takes effect only when staff confirm it.
    enterprise_billing: organization.enterpriseStatus === 'confirmed',
    enterprise_billing_status: organization.enterpriseStatus,
    allows_public_links: organization.allowsPublicLinks,
    created_at: organization.createdAt.toISOString(),
  }
}

export const MemberRecord = Closed(
  {
    user_id: Described(Uuid, 'User ID'),
    email: Type.String({ description: 'Email address' }),
    name: Type.String({ description: 'Display name of the member' }),
    role: Choice(ORGANIZATION_ROLES, { description: 'Role in the organization' }),
    per_order_limit_credits: Described(Nullable(Type.Integer()), 'Maximum credits per order; null for no limit'),
    spend_limit_credits: Described(Nullable(Type.Integer()), 'Maximum credits in any 30 days; null for no limit'),
    has_two_factors: Type.Boolean({ description: 'Whether the account has two-factor sign-in' }),
  },
  { $id: 'OrganizationMember', description: 'A member of the organization' },
)

export function toMember(member: Member) {
  return {
    user_id: member.userId,
    email: member.email,
    name: member.name,
    role: member.role,
    per_order_limit_credits: member.perOrderLimitCredits,
    spend_limit_credits: member.spendLimitCredits,
    has_two_factors: member.hasTwoFactors,
  }
}

/** For the reference. */
export const EXAMPLE_ORGANIZATION = {
  id: EXAMPLE_IDS.organization,
  name: 'Coastal Survey',
  slug: 'coastal-survey-7c9d02',
  description: null,
  website: 'https://coastal.example',
  industry: 'Environment',
  size: '11-50',
  country: 'AU',
  abn: null,
  tax_number: null,
  billing_email: 'accounts@coastal.example',
  billing_admin_id: null,
  billing_address: null,
  default_project_id: null,
  plan: 'free',
  billing_mode: 'card' as const,
  enterprise_billing: false,
  enterprise_billing_status: 'none' as const,
  allows_public_links: false,
  created_at: '2026-03-01T09:00:00.000Z',
}

export const EXAMPLE_MEMBER = {
  user_id: EXAMPLE_IDS.otherUser,
  email: 'ana@example.com',
  name: 'Ana Pereira',
  role: 'member' as const,
  per_order_limit_credits: 20_000,
  spend_limit_credits: null,
  has_two_factors: true,
}
