import Type from 'typebox'
import { PERMISSIONS } from '#core/scopes.ts'
import { Choice, Closed, Described, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import type { ApiKey } from '#model/identity/api-key.ts'

export const Permission = Choice(PERMISSIONS)

/** Key metadata. Only `api_keys.create` returns the secret, once. */
export const ApiKeyRecord = Closed(
  {
    id: Described(Uuid, 'API key ID'),
    prefix: Type.String({ description: 'First 12 characters of the key, to tell keys apart' }),
    name: Type.String({ description: 'Display name of the key' }),
    permissions: Type.Array(Permission, { description: 'Permissions of the key: `read`, `write`, `process`' }),
    rate_limit: Type.Integer({ description: "Requests allowed per hour; the organization's default if the key has no limit of its own" }),
    is_active: Type.Boolean({ description: 'Whether the key can be used' }),
    expires_at: Described(Nullable(Timestamp), 'Expiry time; null if it never expires'),
    created_at: Described(Timestamp, 'Creation time'),
    last_used_at: Described(Nullable(Timestamp), 'Time of the last request; null if never used'),
    total_requests: Type.Integer({ description: 'Number of requests made with the key' }),
    explicit_scopes: Described(Type.Optional(Type.Array(Type.String())), 'Scopes added by an operator'),
  },
  { $id: 'ApiKey', description: 'An API key, without the key itself' },
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
