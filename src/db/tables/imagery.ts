import type { Geometry } from '#core/geometry.ts'
import type {
  AssetState,
  BlendMode,
  ItemType,
  LifecycleState,
  ProfileLayer,
  ProfileType,
  UploadFileState,
  UploadState,
} from '#core/vocabulary.ts'
import type { Generated, GeneratedAlways, JSONColumnType } from 'kysely'

type Json = Record<string, unknown>

/** In the raster engine's format. */
interface UploadPosition {
  crs: string
  bounds?: number[]
  gcps?: { column: number; row: number; x: number; y: number }[]
}

/** How a layer of a map renders its imagery, with the names of tile URLs. */
export interface MapLayerStyle {
  profile: string | null
  asset_key: string | null
  bands: string | null
  expression: string | null
  colormap: string | null
  rescale: string | null
}

/** A shape of a vector layer. */
export interface MapFeature {
  name: string | null
  geometry: Geometry
}

/** Exactly one of `item_id`, `collection_id` and `features` is set. */
export interface MapLayer {
  id: string
  item_id: string | null
  collection_id: string | null
  features: MapFeature[] | null
  /** Null for the name of the item or collection. */
  name: string | null
  group_id: string | null
  visible: boolean
  opacity: number
  blend: BlendMode
  /** Of a vector layer. */
  color: string | null
  style: MapLayerStyle | null
}

export interface MapGroup {
  id: string
  name: string
  visible: boolean
}

interface MapCamera {
  longitude: number
  latitude: number
  zoom: number
  bearing: number
  pitch: number
}

export interface MapAnnotation {
  id: string
  geometry: Geometry
  text: string
  color: string | null
}

export interface MapContent {
  /** From top to bottom. */
  layers: MapLayer[]
  groups: MapGroup[]
  camera: MapCamera | null
  annotations: MapAnnotation[]
}

export interface ImageryTables {
  map: {
    org_id: string
    id: string
    project_id: string
    name: string
    description: string | null
    content: JSONColumnType<MapContent>
    version: number
    created_by: string | null
    created_at: Date
    updated_at: Date
  }
  map_comment: {
    org_id: string
    map_id: string
    id: string
    annotation_id: string | null
    text: string
    author_id: string | null
    created_at: Date
    edited_at: Date | null
    resolved_at: Date | null
  }
  collection: {
    id: string
    org_id: string
    project_id: string
    name: string
    description: string | null
    color: string | null
    show_on_map: Generated<boolean>
    layer_order: Generated<number>
    system_key: string | null
    source_type: string | null
    source_id: string | null
    created_by: string | null
    created_at: Date
    updated_at: Date
    deleted_at: Date | null
  }
  item: {
    seq: GeneratedAlways<number>
    id: string
    org_id: string
    project_id: string
    collection_id: string | null
    stac_id: string
    type: ItemType
    name: string
    description: string | null
    geometry: JSONColumnType<Json> | null
    bbox: number[] | null
    /** In PostgreSQL's notation: it is only compared in the database. */
    footprint: string | null
    cells: Generated<number[]>
    /** Size of properties and geometry in the database. */
    metadata_bytes: Generated<number>
    /** From the item's own properties; null if they have none. */
    stated_title: GeneratedAlways<string | null>
    stated_name: GeneratedAlways<string | null>
    stated_created: GeneratedAlways<Date | null>
    stated_updated: GeneratedAlways<Date | null>
    datetime: Date | null
    start_datetime: Date | null
    end_datetime: Date | null
    cloud_cover: number | null
    gsd: number | null
    properties: JSONColumnType<Json>
    stac_extensions: Generated<string[]>
    lifecycle_state: Generated<LifecycleState>
    expires_at: Date | null
    due_at: Date | null
    archived_at: Date | null
    last_accessed_at: Date | null
    previous_version_id: string | null
    duplicated_from_id: string | null
    order_id: string | null
    upload_id: string | null
    job_id: string | null
    created_by: string | null
    created_at: Date
    updated_at: Date
    deleted_at: Date | null
  }
  item_cell: { org_id: string; cell: number; datetime: Date; seq: number; x0: number; y0: number; x1: number; y1: number }
  asset: {
    id: string
    org_id: string
    item_seq: number
    key: string
    title: string | null
    media_type: string | null
    roles: Generated<string[]>
    bucket: string | null
    object_key: string | null
    href: string | null
    file_size_bytes: number | null
    sha256: Buffer | null
    band_names: string[] | null
    raster: JSONColumnType<Json> | null
    state: Generated<AssetState>
    ordinal: Generated<number | null>
    created_at: Date
    updated_at: Date
  }
  upload_session: {
    id: string
    org_id: string
    project_id: string
    bucket: string
    state: Generated<UploadState>
    file_count: number
    total_bytes: number
    reserved_bytes: number
    bytes_uploaded: Generated<number>
    target_collection_id: string | null
    target_item_id: string | null
    asset_key: string | null
    is_categorical: boolean
    item_ids: Generated<string[]>
    error_step: string | null
    error_message: string | null
    created_by: string | null
    created_at: Date
    updated_at: Date
    progress_at: Date
    closed_at: Date | null
  }
  upload_file: {
    /** Its part of the session's reservation. */
    reserved_bytes: Generated<number>
    id: string
    upload_id: string
    ordinal: number
    given_name: string
    name: string
    content_type: string
    object_key: string
    state: Generated<UploadFileState>
    step: string
    fraction: number | null
    error: string | null
    size_bytes: number | null
    item_id: string | null
    asset_id: string | null
    source_key: string | null
    run_id: string | null
    attempts: Generated<number>
    heartbeat_at: Date | null
    parts_id: string | null
    part_bytes: number | null
    parts_total_bytes: number | null
    parts_key: string | null
    parts_have_md5: boolean | null
    /** As stated by the user who uploaded it. */
    position: JSONColumnType<UploadPosition> | null
    created_at: Date
    updated_at: Date
  }
  orphan_object: { bucket: string; key: string; seen_at: Date; last_seen_at: Date }
  sweep_round: { is_only: Generated<boolean>; began_at: Date; ended_at: Date | null; bucket: string; key: string | null }
  band_formula: {
    id: string
    org_id: string
    name: string
    display_name: string | null
    formula: string
    description: string | null
    required_bands: string[]
    colormap: string
    range_low: number
    range_high: number
    category: string
    created_by: string | null
    created_at: Date
    updated_at: Date
  }
  visualization_profile: {
    id: string
    org_id: string
    item_seq: number
    name: string
    layer: ProfileLayer
    type: ProfileType
    is_default: Generated<boolean>
    sort_order: Generated<number>
    config: JSONColumnType<ProfileConfig>
    asset_key: string | null
    version: Generated<number>
    created_by: string | null
    created_at: Date
    updated_at: Date
  }
}

/**
 * The bands and colours of a visualization profile. A range is stored only if a user chose one; otherwise the range of the image
 * applies.
 */
interface ProfileConfig {
  /** 1-based: one band, or three for red, green and blue. */
  bands?: number[]
  expression?: string
  colormap?: string
  /** `min,max`, or one pair per band separated by `;`. */
  rescale?: string
  /** Pixel values are class codes: each has its own colour, and none is stretched or interpolated. */
  color_table?: boolean
  resampling?: 'nearest' | 'bilinear' | 'cubic' | 'average'
}
