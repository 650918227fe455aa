/** Saved searches as callers send and receive them. */
import Type from 'typebox'
import { GeoJsonArea } from '#core/geojson-shapes.ts'
import { Choice, Closed, Defaulted, Described, NotBlank, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import type { SavedSearch } from '#model/scenes/saved-search.ts'
import { EXAMPLE_AT, EXAMPLE_IDS } from '#wire/examples.ts'

const MODES = ['reference', 'copy', 'notify'] as const
const MAX_NAMES = 50
const MAX_SCENES_PER_DAY = 200

const Names = Type.Array(Type.String({ minLength: 1, maxLength: 300 }), { minItems: 1, maxItems: MAX_NAMES, uniqueItems: true })
const CloudCover = Type.Number({ minimum: 0, maximum: 100 })

const DisplaySetting = Closed(
  {
    name: Type.String({ minLength: 1, maxLength: 40, description: 'Name of the setting' }),
    value: Type.String({ maxLength: 500, description: 'Value of the setting' }),
  },
  { $id: 'DisplaySetting', description: 'A display setting of a client' },
)

export const SavedSearchId = Type.String({ maxLength: 100, description: 'Saved search ID' })

/** The terms of a search as callers send them; terms.lib.ts checks what a schema cannot. */
export const Terms = {
  name: NotBlank(200, { description: 'Display name of the search' }),
  area: Described(
    GeoJsonArea,
    'Area of the search: GeoJSON Polygon, or MultiPolygon of at most 10 polygons, with at most 999 vertices and about 50,000 km²',
  ),
  source_ids: Described(Names, 'Only these sources; all open sources by default. Scenes for sale can be reported, but not added'),
  collections: Described(Names, 'Only scenes of these collections'),
  max_cloud_cover: Described(CloudCover, 'Maximum cloud cover in percent'),
  date_from: Described(Timestamp, 'Earliest acquisition time, at most a year ago; defaults to the time of the call'),
  auto_add: Closed(
    {
      mode: Defaulted(Choice(MODES), 'reference', {
        description:
          '`reference` renders scenes from their host; `copy` stores their whole files in the project; `notify` only reports them',
      }),
      collection_id: Described(Type.Optional(Nullable(Uuid)), 'ID of the collection to add scenes to'),
      max_cloud_cover: Described(
        Type.Optional(Nullable(CloudCover)),
        "Maximum cloud cover of added scenes in percent; defaults to the search's",
      ),
      max_scenes_per_day: Defaulted(Type.Integer({ minimum: 1, maximum: MAX_SCENES_PER_DAY }), 20, {
        description: 'Maximum number of scenes to add or report per day (UTC)',
      }),
      email: Defaulted(Type.Boolean(), false, {
        description: 'Whether to email new scenes at once to the user who saved or changed the search, whatever their notification setting',
      }),
    },
    { $id: 'NewAutoAdd', description: 'How new scenes are added or reported automatically, about every hour' },
  ),
  active: Type.Boolean({ description: 'Whether new scenes are added' }),
  display: Type.Array(DisplaySetting, {
    maxItems: 20,
    description: 'Display settings, such as sorting, which clients restore; they do not affect which scenes are added',
  }),
}

const AutoAddRecord = Closed(
  {
    mode: Choice(MODES, {
      description: '`reference` renders scenes from their host; `copy` stores their files; `notify` only reports them',
    }),
    collection_id: Described(Nullable(Uuid), 'ID of the collection that scenes are added to; null if none'),
    max_cloud_cover: Described(Nullable(Type.Number()), "Maximum cloud cover of added scenes in percent; null for the search's"),
    max_scenes_per_day: Type.Integer({ description: 'Maximum number of scenes to add or report per day (UTC)' }),
    email: Type.Boolean({ description: 'Whether new scenes are emailed at once to the user whose access counts' }),
  },
  { $id: 'AutoAdd', description: 'How a saved search adds new scenes' },
)

export const SavedSearchRecord = Closed(
  {
    id: Described(Uuid, 'Saved search ID'),
    project_id: Described(Uuid, 'ID of the project that scenes are added to'),
    name: Type.String({ description: 'Display name of the search' }),
    area: Described(GeoJsonArea, 'Area to search'),
    source_ids: Described(Nullable(Type.Array(Type.String())), 'Sources to search; null for all open sources'),
    collections: Described(Nullable(Type.Array(Type.String())), 'Collections to search; null for all'),
    max_cloud_cover: Described(Nullable(Type.Number()), 'Maximum cloud cover in percent; null for any'),
    date_from: Described(Timestamp, 'Earliest acquisition time'),
    auto_add: Described(Nullable(AutoAddRecord), 'How new scenes are added; null if they are not'),
    active: Type.Boolean({ description: 'Whether new scenes are added or reported' }),
    display: Described(Nullable(Type.Array(DisplaySetting)), 'Display settings that clients restore; null if none'),
    added_count: Type.Integer({ description: 'Number of scenes added or reported so far' }),
    sources: Type.Array(
      Closed({
        source_id: Type.String({ description: 'Source ID' }),
        searched_until: Described(Timestamp, 'Acquisition time up to which scenes were added'),
        error: Described(Nullable(Type.String()), 'Why the source could not be searched; null if it was'),
      }),
      { description: 'Progress per source' },
    ),
    last_run_at: Described(Nullable(Timestamp), 'Time of the last background run; null if none'),
    last_error: Described(Nullable(Type.String()), 'Why the last run was incomplete or the search is paused; null if all is well'),
    next_run_at: Described(Nullable(Timestamp), 'Time of the next background run; null if there is none'),
    created_by: Described(Nullable(Uuid), 'User ID of the creator; null if created with an API key'),
    created_at: Described(Timestamp, 'Creation time'),
    updated_at: Described(Timestamp, 'Time of the last change'),
  },
  { $id: 'SavedSearch', description: 'A saved search' },
)

export function toRecord(search: SavedSearch, addedCount: number) {
  const { autoAdd, isActive } = search
  return {
    id: search.id,
    project_id: search.projectId,
    name: search.name,
    area: search.area,
    source_ids: search.sourceIds,
    collections: search.collections,
    max_cloud_cover: search.maxCloudCover,
    date_from: search.dateFrom.toISOString(),
    auto_add: autoAdd && { ...autoAdd, email: autoAdd.email ?? false },
    active: isActive,
    display: search.display,
    added_count: addedCount,
    sources: Object.entries(search.sources).map(([source_id, progress]) => ({ source_id, ...progress })),
    last_run_at: search.lastRunAt?.toISOString() ?? null,
    last_error: search.lastError,
    next_run_at: autoAdd && isActive ? search.nextRunAt.toISOString() : null,
    created_by: search.createdBy,
    created_at: search.createdAt.toISOString(),
    updated_at: search.updatedAt.toISOString(),
  }
}

export const EXAMPLE_SEARCH = {
  id: '0199f2c7-5555-7abc-8def-0123456789ab',
  project_id: EXAMPLE_IDS.project,
  name: 'Fields, weekly',
  area: {
    type: 'Polygon',
    coordinates: [
      [
        [146.4, -18.6],
        [146.6, -18.6],
        [146.6, -18.4],
        [146.4, -18.4],
        [146.4, -18.6],
      ],
    ],
  },
  source_ids: ['earth-search'],
  collections: ['sentinel-2-c1-l2a'],
  max_cloud_cover: 20,
  date_from: EXAMPLE_AT,
  auto_add: { mode: 'reference' as const, collection_id: null, max_cloud_cover: null, max_scenes_per_day: 20, email: false },
  active: true,
  display: null,
  added_count: 0,
  sources: [],
  last_run_at: null,
  last_error: null,
  next_run_at: EXAMPLE_AT,
  created_by: EXAMPLE_IDS.user,
  created_at: EXAMPLE_AT,
  updated_at: EXAMPLE_AT,
}
