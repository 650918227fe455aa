/** Draft orders as callers send and receive them. */
import Type from 'typebox'
import { requireBounded } from '#core/bounded.ts'
import { GeoJsonArea } from '#core/geojson-shapes.ts'
import { requireArea } from '#core/geometry.ts'
import { mapInTime } from '#core/in-parts.ts'
import { requireSignedIn } from '#core/principal.ts'
import { invalidField } from '#core/problem.ts'
import { CreditsInput } from '#core/money-shapes.ts'
import { Closed, Described, FreeForm, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import type { Draft, DraftCapture, Owner } from '#model/orders/draft.ts'
import type { Context } from '#operation.ts'
import { EXAMPLE_AT } from '#wire/examples.ts'
import { EXAMPLE_CAPTURE } from './wire.ts'

const MAX_CAPTURES = 200

export const DraftId = Type.String({ minLength: 1, maxLength: 100, description: 'Draft ID' })

const Capture = {
  id: Type.String({ minLength: 1, maxLength: 256, description: 'Scene ID from `catalog.search`' }),
  host: Type.String({ minLength: 1, maxLength: 100, description: 'Host name' }),
  geometry: Described(Nullable(GeoJsonArea), 'Part of the scene to order: GeoJSON Polygon or MultiPolygon; null for the whole scene'),
  quoted_credits: Described(Nullable(CreditsInput(0)), 'Price in credits that the scene had when the draft was saved; null if unknown'),
}

export const NewCaptures = Type.Array(
  Closed({
    id: Capture.id,
    host: Capture.host,
    geometry: Type.Optional(Capture.geometry),
    scene: Described(Type.Optional(Nullable(FreeForm)), 'What a client shows of the scene, such as its date; at most 4 kB'),
    quoted_credits: Type.Optional(Capture.quoted_credits),
  }),
  { maxItems: MAX_CAPTURES, description: 'Scenes of the draft' },
)

const Summary = {
  id: Described(Uuid, 'Draft ID'),
  name: Described(Nullable(Type.String()), 'Name of the draft; null for the cart'),
  version: Type.Integer({ description: 'Number of changes; send it with the next change' }),
  created_at: Described(Timestamp, 'Creation time'),
  updated_at: Described(Timestamp, 'Time of the last change'),
}

export const DraftSummary = Closed(
  {
    ...Summary,
    capture_count: Type.Integer({ description: 'Number of scenes' }),
    quoted_credits: Type.Integer({ description: 'Sum of the prices when the draft was saved' }),
  },
  { $id: 'OrderDraftSummary', description: 'A draft order without its scenes' },
)

export const DraftRecord = Closed(
  {
    ...Summary,
    captures: Type.Array(Closed({ ...Capture, scene: Described(FreeForm, 'What a client shows of the scene') }), {
      description: 'Scenes of the draft',
    }),
  },
  { $id: 'OrderDraft', description: 'A draft order, which only its member sees' },
)

const summaryOf = ({ id, name, version, createdAt, updatedAt }: Draft) => ({
  id,
  name,
  version,
  created_at: createdAt.toISOString(),
  updated_at: updatedAt.toISOString(),
})

export const toSummary = (draft: Draft) => ({
  ...summaryOf(draft),
  capture_count: draft.captures.length,
  quoted_credits: draft.captures.reduce((sum, { quoted_credits }) => sum + (quoted_credits ?? 0), 0),
})

export const toRecord = (draft: Draft) => ({
  ...summaryOf(draft),
  captures: draft.captures.map(({ geometry, ...capture }) => ({ ...capture, geometry: geometry && { ...geometry } })),
})

/** The member whose drafts these are; 403 for API keys. */
export function ownerOf(principal: Context['principal']): Owner {
  const organizationId = requireOrganization(principal)
  requireSignedIn(principal, 'keep draft orders')
  return { organizationId, userId: principal.id }
}

const MAX_SCENE_CHARACTERS = 4_096

interface GivenCapture {
  id: string
  host: string
  geometry?: unknown
  scene?: Record<string, unknown> | null
  quoted_credits?: number | null
}

export async function capturesOf(given: readonly GivenCapture[]): Promise<DraftCapture[]> {
  return await mapInTime(given, ({ id, host, geometry, scene, quoted_credits }, index) => ({
    id,
    host,
    geometry: geometry == null ? null : requireArea(geometry, `captures.${index}.geometry`),
    scene: requireScene(scene ?? {}, `captures.${index}.scene`),
    quoted_credits: quoted_credits ?? null,
  }))
}

function requireScene(scene: Record<string, unknown>, field: string): Record<string, unknown> {
  if (JSON.stringify(requireBounded(scene, field)).length > MAX_SCENE_CHARACTERS)
    throw invalidField(field, `must have at most ${MAX_SCENE_CHARACTERS} characters as JSON`)
  return scene
}

const EXAMPLE_SUMMARY = {
  id: '0199f2dc-0000-7000-8000-000000000002',
  name: 'Harbour, spring',
  version: 1,
  created_at: EXAMPLE_AT,
  updated_at: EXAMPLE_AT,
}
export const EXAMPLE_DRAFT_CAPTURE = { ...EXAMPLE_CAPTURE, scene: { datetime: EXAMPLE_AT }, quoted_credits: 9_840 }
export const EXAMPLE_DRAFT = { ...EXAMPLE_SUMMARY, captures: [EXAMPLE_DRAFT_CAPTURE] }
export const EXAMPLE_DRAFT_SUMMARY = { ...EXAMPLE_SUMMARY, capture_count: 1, quoted_credits: 9_840 }
