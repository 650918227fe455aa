import Type from 'typebox'
import { Closed, Defaulted, Described, Nullable, Timestamp } from '#core/shapes.ts'
import * as savedScenes from '#model/scenes/saved-scene.ts'
import * as savedSearches from '#model/scenes/saved-search.ts'
import { addScenesTask } from '#model/scenes/tasks.ts'
import { operation } from '#operation.ts'
import { findScenes, searchedSources } from '#services/scenes/find-scenes.ts'
import { Box } from '#wire/item.ts'
import { EXAMPLE_SEARCH, SavedSearchId } from './wire.ts'

const MAX_SCENES = 500

const FoundScene = Closed(
  {
    source_id: Type.String({ description: 'Source ID' }),
    host_name: Type.String({ description: 'Host name, as `catalog.scene.save` takes it' }),
    collection: Type.String({ description: 'Collection name' }),
    id: Type.String({ description: 'Scene ID' }),
    datetime: Described(Nullable(Timestamp), 'Acquisition time; null if unknown'),
    cloud_cover: Described(Nullable(Type.Number()), 'Cloud cover in percent; null if unknown'),
    bbox: Described(Nullable(Box), 'Bounding box as west, south, east, north in degrees; null if unknown'),
    saved: Type.Boolean({ description: 'Whether the project has saved the scene' }),
  },
  { $id: 'FoundScene', description: 'A scene that matches a saved search' },
)

/** Runs a saved search now: returns its newest scenes, and starts to add or report new ones if it has `auto_add`. */
export default operation({
  id: 'saved_searches.run',
  scope: 'catalog:write',
  tier: 'compute',
  input: Closed({
    saved_search_id: SavedSearchId,
    limit: Defaulted(Type.Integer({ minimum: 1, maximum: MAX_SCENES }), 100, { description: 'Maximum number of scenes to return' }),
  }),
  output: Closed(
    {
      scenes: Type.Array(FoundScene, { description: 'Matching scenes, most recent first' }),
      sources: Type.Array(
        Closed({
          source_id: Type.String({ description: 'Source ID' }),
          count: Type.Integer({ description: 'Number of scenes found' }),
          error: Described(Nullable(Type.String()), 'Why the source could not be searched; null if it was'),
        }),
        { description: 'Searched sources' },
      ),
      queued: Type.Boolean({ description: 'Whether new scenes are now being added or reported in the background' }),
    },
    { description: 'Scenes that match the search' },
  ),
  example: {
    input: { saved_search_id: EXAMPLE_SEARCH.id },
    output: {
      scenes: [
        {
          source_id: 'earth-search',
          host_name: 'earth-search',
          collection: 'sentinel-2-c1-l2a',
          id: 'S2B_T55KFA_20260214T003119_L2A',
          datetime: '2026-02-14T00:31:19.000Z',
          cloud_cover: 3.2,
          bbox: [146.1, -18.9, 147.1, -18],
          saved: false,
        },
      ],
      sources: [{ source_id: 'earth-search', count: 1, error: null }],
      queued: true,
    },
  },
}).handle({
  async check({ db, principal }, { saved_search_id }) {
    return (await savedSearches.requireEditor(db, principal, saved_search_id)).search
  },
  async prepare(context, { limit }, search) {
    const window = { from: search.dateFrom, to: context.clock.now(), maxCloudCover: search.maxCloudCover, pages: Math.ceil(limit / 100) }
    const searched = searchedSources(context.vendors, search).map((source) => ({ ...source, ...window }))
    return await findScenes(context, search, searched)
  },
  async execute({ tx, clock, tasks, attributeTo }, { limit }, search, results) {
    attributeTo(search.organizationId)
    const found = results
      .flatMap(({ source, scenes }) =>
        scenes.map((scene) => ({ source, scene, hostName: source.hostName, collection: scene.collection, sceneId: scene.id })),
      )
      .toSorted((a, b) => String(b.scene.datetime ?? '').localeCompare(String(a.scene.datetime ?? '')))
      .slice(0, limit)
    const unsaved = new Set(await savedScenes.neverSaved(tx, search.projectId, found))
    const isQueued = search.autoAdd !== null && search.isActive
    if (isQueued) {
      await savedSearches.hasten(tx, search.id, clock.now())
      await tasks.enqueue(addScenesTask, { saved_search_id: search.id })
    }
    return {
      scenes: found.map((each) => ({
        source_id: each.source.id,
        host_name: each.hostName,
        collection: each.collection,
        id: each.sceneId,
        datetime: each.scene.datetime,
        cloud_cover: each.scene.cloudCover,
        bbox: each.scene.bbox ? [...each.scene.bbox] : null,
        saved: !unsaved.has(each),
      })),
      sources: results.map(({ source, scenes, error }) => ({ source_id: source.id, count: scenes.length, error })),
      queued: isQueued,
    }
  },
})
