/** The backdrop of a member's maps. */
import Type, { type Static } from 'typebox'
import { Choice, Closed, Described, Nullable } from '#core/shapes.ts'
import { BACKDROP_KINDS, type Backdrop as Stored } from '#model/imagery/backdrop.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'

const Kind = Choice(BACKDROP_KINDS, { description: '`map` for a base map of the service, `item` or `collection` for imagery' })
const Target = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'Name of the base map, such as `satellite`, or the ID of the item or collection',
})

export const BackdropInput = Closed({ kind: Kind, id: Target })

const BackdropRecord = Closed(
  { kind: Kind, id: Target, name: Described(Nullable(Type.String()), 'Name of the item or collection; null for a base map') },
  { $id: 'MapBackdrop', description: 'What lies behind the imagery of the maps of a member' },
)

export const BackdropResult = Closed(
  { backdrop: Described(Nullable(BackdropRecord), 'Backdrop of the maps; null for the built-in base map') },
  { description: 'What the caller sees behind the imagery of every map' },
)

export const toResult = (backdrop: (Stored & { name: string | null }) | null): Static<typeof BackdropResult> => ({
  backdrop: backdrop && { kind: backdrop.kind, id: backdrop.target, name: backdrop.name },
})

export const EXAMPLE_BACKDROP = { kind: 'collection' as const, id: EXAMPLE_IDS.collection }
export const EXAMPLE_RESULT = { backdrop: { ...EXAMPLE_BACKDROP, name: 'Coast 2026' } }
