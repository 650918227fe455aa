import Type from 'typebox'
import { problem } from '#core/problem.ts'
import { Closed, Nullable, type Received } from '#core/shapes.ts'
import type { MapFields, SavedMap } from '#model/imagery/map.ts'
import * as maps from '#model/imagery/map.ts'
import { operation, type Context } from '#operation.ts'
import { annotationsOf, groupsOf, layersOf, requireWhole } from './content.lib.ts'
import { Content, DescriptionText, EXAMPLE_MAP, MapId, MapRecord, MAX_BODY_BYTES, Name, toRecord } from './wire.ts'

const Input = Closed({
  map_id: MapId,
  name: Type.Optional(Nullable(Name)),
  description: Type.Optional(Nullable(DescriptionText)),
  layers: Type.Optional(Nullable(Content.layers)),
  groups: Type.Optional(Nullable(Content.groups)),
  camera: Type.Optional(Content.camera),
  annotations: Type.Optional(Nullable(Content.annotations)),
  version: Type.Optional(Nullable(Type.Integer({ minimum: 1, description: 'The version that the change is based on' }))),
})

/**
 * Changes a map. Lists are replaced as a whole; null clears the description and the camera, and leaves other fields unchanged. With
 * `version`, 409 if the map has changed since.
 */
export default operation({
  id: 'maps.update',
  scope: 'items:write',
  tier: 'compute',
  maxBodyBytes: MAX_BODY_BYTES,
  input: Input,
  output: MapRecord,
  example: {
    input: { map_id: EXAMPLE_MAP.id, name: 'Harbour', version: 1 },
    output: { ...EXAMPLE_MAP, name: 'Harbour', version: 2 },
  },
}).handle({
  async check({ db, principal }, input) {
    const { map } = await maps.requireEditor(db, principal, input.map_id)
    const change = await changeOf(db, map, input)
    if (Object.keys(change).length === 0) throw problem('bad-request', 'Nothing to change; send at least one field')
    return { map, change }
  },
  async execute({ tx, clock, attributeTo }, { version }, { map, change }) {
    attributeTo(map.organizationId)
    // The content was completed from the map as it was read, so it must not have changed since.
    const based = version ?? (change.content ? map.version : undefined)
    const updated = await maps.update(tx, map, { ...change, version: based }, clock.now())
    return toRecord(updated, await maps.sourcesOf(tx, updated, updated.content.layers))
  },
})

async function changeOf(db: Context['db'], map: SavedMap, input: Received<typeof Input>): Promise<Partial<MapFields>> {
  const fields = {
    ...(input.name == null ? {} : { name: input.name.trim() }),
    ...(input.description === undefined ? {} : { description: input.description?.trim() || null }),
  }
  if (input.layers == null && input.groups == null && input.camera === undefined && input.annotations == null) return fields
  const content = {
    layers: input.layers == null ? map.content.layers : await layersOf(db, map, input.layers),
    groups: input.groups == null ? map.content.groups : groupsOf(input.groups),
    camera: input.camera === undefined ? map.content.camera : input.camera,
    annotations: input.annotations == null ? map.content.annotations : await annotationsOf(input.annotations),
  }
  requireWhole(content.layers, content.groups, content.annotations)
  return { ...fields, content }
}
