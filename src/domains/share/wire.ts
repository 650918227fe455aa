import Type from 'typebox'
import { Choice, Closed, Described, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import { SHARE_PERMISSIONS, SHARE_TARGETS } from '#core/vocabulary.ts'
import type { ShareLink } from '#model/sharing/share-link.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'

export const Target = Choice(SHARE_TARGETS)
export const Permission = Choice(SHARE_PERMISSIONS)
export const TargetId = Type.String({ minLength: 1, maxLength: 256 })

/** The token of a link, or a grant from an earlier response. */
export const Token = Type.String({
  minLength: 1,
  maxLength: 500,
  description: 'Share link token, or a grant from `share.link.validate`',
})
export const Password = Type.Optional(Type.String({ maxLength: 1_000 }))

const FIELDS = {
  id: Described(Uuid, 'Share link ID'),
  target_type: Described(Target, 'Type of the shared object'),
  target_id: Type.String({ description: 'ID of the shared object' }),
  permission: Described(Permission, 'Whether visitors can only view, or also download'),
  is_public: Type.Boolean({ description: 'Whether the link opens without a password' }),
  organization_id: Described(Uuid, 'Organization ID'),
  project_id: Described(Uuid, 'Project ID'),
  expires_at: Described(Timestamp, 'Expiry time'),
  revoked_at: Described(Nullable(Timestamp), 'Revocation time; null if active'),
  access_count: Type.Integer({ description: 'Number of times the link was opened' }),
  last_accessed_at: Described(Nullable(Timestamp), 'Time the link was last opened; null if never'),
  created_by: Described(Nullable(Uuid), 'User ID of the creator; null if created with an API key'),
  created_at: Described(Timestamp, 'Creation time'),
}

export const LinkRecord = Closed(FIELDS, { $id: 'ShareLink', description: 'A share link, without its token' })
export const NewLink = Closed(
  { ...FIELDS, token: Type.String({ description: 'Secret token of the link; shown only in this response' }) },
  { $id: 'NewShareLink', description: 'A new share link, with its token' },
)

export function toRecord(link: ShareLink) {
  return {
    id: link.id,
    target_type: link.targetType,
    target_id: link.targetId,
    permission: link.permission,
    is_public: link.isPublic,
    organization_id: link.organizationId,
    project_id: link.projectId,
    expires_at: link.expiresAt.toISOString(),
    revoked_at: link.revokedAt?.toISOString() ?? null,
    access_count: link.accessCount,
    last_accessed_at: link.lastAccessedAt?.toISOString() ?? null,
    created_by: link.createdBy,
    created_at: link.createdAt.toISOString(),
  }
}

/** For the reference. */
export const EXAMPLE_TOKEN = 'shr_000000000000000000000000000000000000EXAMPLE'
export const EXAMPLE_PASSWORD = 'coral-and-sand'
export const EXAMPLE_LINK = {
  id: '0199f2c9-4400-7c31-9d10-2f6a8b3c7e55',
  target_type: 'item' as const,
  target_id: EXAMPLE_IDS.item,
  permission: 'view' as const,
  is_public: false,
  organization_id: '0199f2c4-0001-7aaa-8bbb-0123456789ab',
  project_id: EXAMPLE_IDS.project,
  expires_at: '2030-06-01T00:00:00.000Z',
  revoked_at: null,
  access_count: 0,
  last_accessed_at: null,
  created_by: EXAMPLE_IDS.user,
  created_at: '2026-03-01T10:00:00.000Z',
}
export const EXAMPLE_GRANT = 'shg_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEXAMPLE'
export const EXAMPLE_VISUALIZATION = {
  id: 'rgb',
  label: 'Natural colour',
  kind: 'rgb' as const,
  bands: [3, 2, 1],
  expression: null,
  colormap: null,
  rescale: null,
  category: 'composite',
  is_default: true,
  description: 'As the eye would see it',
}
export const EXAMPLE_TARGET = {
  id: EXAMPLE_LINK.target_id,
  name: 'Sentinel-2B, 14 February 2026',
  description: null,
  type: 'satellite_capture' as const,
  bbox: [146.1, -18.9, 147.1, -18],
  geometry: {
    type: 'Polygon',
    coordinates: [
      [
        [146.1, -18.9],
        [147.1, -18.9],
        [147.1, -18],
        [146.1, -18],
        [146.1, -18.9],
      ],
    ],
  },
  datetime: '2026-02-14T00:31:19.000Z',
  cloud_cover: 3.2,
  gsd: 10,
  visualizations: [EXAMPLE_VISUALIZATION],
  attribution: 'Contains modified Copernicus Sentinel data 2026',
  license: { name: 'Copernicus Sentinel data terms', url: 'https://licences.example/sentinel' },
  tilejson: `https://imagery.example/api/v1/share/tilejson.json?grant=${EXAMPLE_GRANT}`,
  grant: EXAMPLE_GRANT,
  grant_expires_at: '2026-03-01T11:00:00.000Z',
  link_expires_at: '2030-06-01T00:00:00.000Z',
}
