import Type, { type Static } from 'typebox'
import { Choice, Closed, FreeForm, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import { ENTERPRISE_STATUSES, ORGANIZATION_ROLES } from '#core/vocabulary.ts'
import type { Member, Organization } from '#model/identity/organization.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'

const Text = Type.String({ maxLength: 2_000 })
const OptionalText = Type.Optional(Nullable(Text))

/** What an organization says of itself. */
export const profileInput = {
  description: OptionalText,
  website: OptionalText,
  industry: OptionalText,
  size: OptionalText,
  country: OptionalText,
  abn: OptionalText,
  tax_number: OptionalText,
  billing_email: OptionalText,
  billing_admin_id: Type.Optional(Nullable(Uuid)),
  billing_address: Type.Optional(Nullable(FreeForm)),
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
    id: Uuid,
    name: Type.String(),
    slug: Type.String(),
    description: Nullable(Type.String()),
    website: Nullable(Type.String()),
    industry: Nullable(Type.String()),
    size: Nullable(Type.String()),
    country: Nullable(Type.String()),
    abn: Nullable(Type.String()),
    tax_number: Nullable(Type.String()),
    billing_email: Nullable(Type.String()),
    billing_admin_id: Nullable(Uuid),
    billing_address: Nullable(FreeForm),
    plan: Type.String(),
    billing_mode: Choice(['credit', 'card', 'enterprise']),
    enterprise_billing: Type.Boolean(),
    enterprise_billing_status: Choice(ENTERPRISE_STATUSES),
    created_at: Timestamp,
  },
  { $id: 'Organization' },
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
    plan: organization.planId,
    billing_mode: organization.billingMode,
    // Asking for enterprise billing is not having it: staff confirm it.
    enterprise_billing: organization.enterpriseStatus === 'confirmed',
    enterprise_billing_status: organization.enterpriseStatus,
    created_at: organization.createdAt.toISOString(),
  }
}

export const MemberRecord = Closed(
  {
    user_id: Uuid,
    email: Type.String(),
    name: Type.String(),
    role: Choice(ORGANIZATION_ROLES),
    per_order_limit_credits: Nullable(Type.Integer()),
    spend_limit_credits: Nullable(Type.Integer()),
  },
  { $id: 'OrganizationMember' },
)

export function toMember(member: Member) {
  return {
    user_id: member.userId,
    email: member.email,
    name: member.name,
    role: member.role,
    per_order_limit_credits: member.perOrderLimitCredits,
    spend_limit_credits: member.spendLimitCredits,
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
  plan: 'free',
  billing_mode: 'card' as const,
  enterprise_billing: false,
  enterprise_billing_status: 'none' as const,
  created_at: '2026-03-01T09:00:00.000Z',
}

export const EXAMPLE_MEMBER = {
  user_id: EXAMPLE_IDS.otherUser,
  email: 'ana@example.com',
  name: 'Ana Pereira',
  role: 'member' as const,
  per_order_limit_credits: 20_000,
  spend_limit_credits: null,
}
