import Type from 'typebox'
import { PERMISSIONS } from '#core/scopes.ts'
import { Choice, Closed, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import type { ApiKey } from '#model/identity/api-key.ts'

export const Permission = Choice(PERMISSIONS)

/** What everybody may see of a key. The secret is no part of it: only `api_keys.create` returns it, once. */
export const ApiKeyRecord = Closed(
  {
    id: Uuid,
    prefix: Type.String(),
    name: Type.String(),
    permissions: Type.Array(Permission),
    rate_limit: Type.Integer({ description: 'Requests an hour; the default of the organization where the key was given none of its own.' }),
    is_active: Type.Boolean(),
    expires_at: Nullable(Timestamp),
    created_at: Timestamp,
    last_used_at: Nullable(Timestamp),
    total_requests: Type.Integer(),
    explicit_scopes: Type.Optional(Type.Array(Type.String())),
  },
  { $id: 'ApiKey' },
)

export function toRecord(key: ApiKey) {
  return {
    id: key.id,
    prefix: key.prefix,
    name: key.name,
    permissions: key.permissions as (typeof PERMISSIONS)[number][],
    rate_limit: key.rateLimitPerHour,
    is_active: key.isActive,
    expires_at: key.expiresAt?.toISOString() ?? null,
    created_at: key.createdAt.toISOString(),
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    total_requests: key.totalRequests,
    ...(key.explicitScopes.length > 0 ? { explicit_scopes: key.explicitScopes } : {}),
  }
}

/** For the reference. */
export const EXAMPLE_KEY = {
  id: '0199f2c4-7777-7abc-8def-0123456789ab',
  prefix: 'svc_k3Jx9QpL',
  name: 'QGIS on my laptop',
  permissions: ['read' as const],
  rate_limit: 1_000,
  is_active: true,
  expires_at: '2027-03-01T09:30:00.000Z',
  created_at: '2026-03-01T09:30:00.000Z',
  last_used_at: null,
  total_requests: 0,
}
