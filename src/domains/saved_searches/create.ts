import Type from 'typebox'
import { Closed, Defaulted, Described, Nullable, Uuid } from '#core/shapes.ts'
import * as projects from '#model/identity/project.ts'
import * as savedSearches from '#model/scenes/saved-search.ts'
import { addScenesTask } from '#model/scenes/tasks.ts'
import { operation } from '#operation.ts'
import { areaOf, autoAddOf, dateFromOf, requireTerms } from './terms.lib.ts'
import { EXAMPLE_SEARCH, SavedSearchRecord, Terms, toRecord } from './wire.ts'

/**
 * Saves a search in a project. With `auto_add`, new scenes are added to the project, or only reported, about every hour, with the access
 * of the user who saved it.
 */
export default operation({
  id: 'saved_searches.create',
  scope: 'catalog:write',
  tier: 'compute',
  input: Closed({
    project_id: Described(Uuid, 'Project ID'),
    name: Terms.name,
    area: Terms.area,
    source_ids: Type.Optional(Nullable(Terms.source_ids)),
    collections: Type.Optional(Nullable(Terms.collections)),
    max_cloud_cover: Type.Optional(Nullable(Terms.max_cloud_cover)),
    date_from: Type.Optional(Nullable(Terms.date_from)),
    auto_add: Type.Optional(Nullable(Terms.auto_add)),
    active: Defaulted(Terms.active, true),
    display: Type.Optional(Nullable(Terms.display)),
  }),
  output: Closed({ saved_search: SavedSearchRecord }, { description: 'The created search' }),
  example: {
    input: {
      project_id: EXAMPLE_SEARCH.project_id,
      name: EXAMPLE_SEARCH.name,
      area: EXAMPLE_SEARCH.area,
      source_ids: EXAMPLE_SEARCH.source_ids,
      collections: EXAMPLE_SEARCH.collections,
      max_cloud_cover: 20,
      auto_add: { mode: 'reference', max_scenes_per_day: 20 },
    },
    output: { saved_search: EXAMPLE_SEARCH },
  },
}).handle({
  async check(context, input) {
    const { db, principal, clock } = context
    const project = projects.requireActive(await projects.requireRole(db, principal, input.project_id, 'editor'))
    const terms = {
      name: input.name.trim(),
      area: areaOf(input.area),
      sourceIds: input.source_ids ?? null,
      collections: input.collections ?? null,
      maxCloudCover: input.max_cloud_cover ?? null,
      dateFrom: dateFromOf(input.date_from, clock.now()),
      autoAdd: autoAddOf(input.auto_add),
      isActive: input.active,
      display: input.display ?? null,
    }
    await requireTerms(context, project.id, terms)
    return { project, terms }
  },
  async execute({ tx, principal, clock, tasks, attributeTo }, _input, { project, terms }) {
    attributeTo(project.organizationId)
    await projects.lock(tx, project.id)
    const search = await savedSearches.insert(tx, principal, project, terms, clock.now())
    if (search.autoAdd && search.isActive) await tasks.enqueue(addScenesTask, { saved_search_id: search.id })
    return { saved_search: toRecord(search, 0) }
  },
})
