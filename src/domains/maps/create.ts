import Type from 'typebox'
import { Closed, Defaulted, Described, Nullable, Uuid } from '#core/shapes.ts'
import * as projects from '#model/identity/project.ts'
import * as maps from '#model/imagery/map.ts'
import { operation } from '#operation.ts'
import { annotationsOf, groupsOf, layersOf, requireWhole } from './content.lib.ts'
import { Content, DescriptionText, EXAMPLE_LAYER, EXAMPLE_MAP, MapRecord, MAX_BODY_BYTES, Name, toRecord } from './wire.ts'

/** Saves a named map in a project. Its layers show items and collections of that project, and shapes that are stored with the map. */
export default operation({
  id: 'maps.create',
  scope: 'items:write',
  tier: 'compute',
  maxBodyBytes: MAX_BODY_BYTES,
  input: Closed({
    project_id: Described(Uuid, 'Project ID'),
    name: Name,
    description: Type.Optional(Nullable(DescriptionText)),
    layers: Defaulted(Content.layers, []),
    groups: Defaulted(Content.groups, []),
    camera: Type.Optional(Content.camera),
    annotations: Defaulted(Content.annotations, []),
  }),
  output: MapRecord,
  example: {
    input: { project_id: EXAMPLE_MAP.project_id, name: EXAMPLE_MAP.name, layers: [EXAMPLE_LAYER], camera: EXAMPLE_MAP.camera },
    output: EXAMPLE_MAP,
  },
}).handle({
  async check({ db, principal }, input) {
    const project = projects.requireActive(await projects.requireRole(db, principal, input.project_id, 'editor'))
    const layers = await layersOf(db, { organizationId: project.organizationId, projectId: project.id }, input.layers)
    const groups = groupsOf(input.groups)
    const annotations = await annotationsOf(input.annotations)
    requireWhole(layers, groups, annotations)
    return { project, content: { layers, groups, camera: input.camera ?? null, annotations } }
  },
  async execute({ tx, principal, clock, attributeTo }, { name, description }, { project, content }) {
    attributeTo(project.organizationId)
    await projects.lock(tx, project.id)
    const fields = { name: name.trim(), description: description?.trim() || null, content }
    const map = await maps.insert(tx, principal, project, fields, clock.now())
    return toRecord(map, await maps.sourcesOf(tx, map, content.layers))
  },
})
