import type { Generated, JSONColumnType } from 'kysely'

type Json = Record<string, unknown>

/** How a saved search adds new scenes. */
export interface AutoAdd {
  mode: 'reference' | 'copy' | 'notify'
  collection_id: string | null
  max_cloud_cover: number | null
  max_scenes_per_day: number
  /** Absent in searches that were saved before it existed. */
  email?: boolean
}

/** How far a saved search has seen one source. */
export interface SourceProgress {
  /** Acquisition time, ISO 8601. */
  searched_until: string
  error: string | null
}

export interface SceneTables {
  saved_search: {
    id: string
    org_id: string
    project_id: string
    user_id: string | null
    created_by: string | null
    name: string
    area: JSONColumnType<Json>
    source_ids: string[] | null
    collections: string[] | null
    max_cloud_cover: number | null
    date_from: Date
    auto_add: JSONColumnType<AutoAdd> | null
    is_active: Generated<boolean>
    sources: JSONColumnType<Record<string, SourceProgress>>
    last_run_at: Date | null
    last_error: string | null
    next_run_at: Date
    display: JSONColumnType<{ name: string; value: string }[]> | null
    created_at: Date
    updated_at: Date
  }
  reported_scene: {
    org_id: string
    saved_search_id: string
    host_name: string
    collection: string
    scene_id: string
    created_at: Date
  }
  saved_scene: {
    project_id: string
    host_name: string
    collection: string
    scene_id: string
    variant: string
    org_id: string
    item_id: string | null
    job_id: string | null
    saved_search_id: string | null
    created_at: Date
  }
}
