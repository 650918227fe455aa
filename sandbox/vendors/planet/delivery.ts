/** What an order delivers: for each scene an image, a mask and metadata, and a manifest of all files. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { AreaGeometry } from '#core/geometry.ts'
import { cropOf, type SceneDescription } from '../../scenes/index.ts'
import { sharedArea } from '../library.ts'
import type { SceneRenderer } from '../scene-renderer.ts'
import { BUNDLES, type PlanetItem } from './items.ts'
import { udm2Of } from './udm2.ts'

const MAX_FILE_PX = 16_000_000

export interface OrderedScene {
  readonly scene: SceneDescription
  readonly item: PlanetItem
}

interface Wanted {
  readonly scenes: readonly OrderedScene[]
  readonly bundle: string
  /** Null: whole scenes. */
  readonly aoi: AreaGeometry | null
}

export interface OrderFile {
  /** Below the folder of the order. */
  readonly path: string
  readonly bytes: Buffer
  readonly mediaType: string
  readonly annotations: Readonly<Record<string, string>>
}

/** The part of each bundle's image in file names, and its bands; null for all. */
const IMAGES: Readonly<Record<string, { name: string; bands: readonly string[] | null; isForEyes: boolean }>> = {
  analytic_8b_sr_udm2: { name: '3B_AnalyticMS_SR_8b', bands: null, isForEyes: false },
  analytic_sr_udm2: { name: '3B_AnalyticMS_SR', bands: ['blue', 'green', 'red', 'nir'], isForEyes: false },
  pansharpened_udm2: { name: 'pansharpened', bands: null, isForEyes: false },
  visual: { name: '3B_Visual', bands: ['red', 'green', 'blue'], isForEyes: true },
}

/** The scene as the bundle shows it, cut to the area; null if they do not overlap. */
export function shownIn({ scene }: OrderedScene, { bundle, aoi }: Pick<Wanted, 'bundle' | 'aoi'>): SceneDescription | null {
  const shared = aoi ? sharedArea(scene, aoi) : (scene.footprint as unknown as AreaGeometry)
  if (!shared) return null
  const { bands, isForEyes } = IMAGES[bundle]!
  const cut = cropOf(scene, shared, { maxPx: MAX_FILE_PX })
  const chosen = bands ? bands.map((name) => cut.bands.find((band) => band.name === name)!) : cut.bands
  return { ...cut, bands: chosen, ...(isForEyes ? { dataType: 'uint8', scale: null } : {}) }
}

/** All files of an order; null while an image is still being rendered. */
export async function filesOf(renderer: SceneRenderer, wanted: Wanted): Promise<OrderFile[] | null> {
  const shown = wanted.scenes.flatMap((ordered) => {
    const scene = shownIn(ordered, wanted)
    return scene ? [{ ...ordered, shown: scene }] : []
  })
  const images = await Promise.all(shown.map((each) => renderer.fileSoon(each.shown)))
  const files: OrderFile[] = []
  for (const [index, { item, shown: scene }] of shown.entries()) {
    const image = images[index]
    if (!image) return null
    files.push(...(await filesOfScene(wanted.bundle, item, scene, await readFile(image.path))))
  }
  return files
}

async function filesOfScene(bundle: string, item: PlanetItem, scene: SceneDescription, image: Buffer): Promise<OrderFile[]> {
  const { id } = item
  const { item_type: itemType } = item.properties
  const [imageType, ...others] = BUNDLES[itemType]![bundle]!
  const file = (name: string, bytes: Uint8Array | string, mediaType: string, assetType?: string): OrderFile => ({
    path: `${itemType}/${name}`,
    bytes: Buffer.from(bytes as Uint8Array),
    mediaType,
    annotations: {
      ...(assetType === undefined ? {} : { 'planet/asset_type': assetType }),
      'planet/bundle_type': bundle,
      'planet/item_id': id,
      'planet/item_type': itemType,
    },
  })
  const { name } = IMAGES[bundle]!
  const xml = others.find((type) => type.endsWith('_xml'))
  const mask = others.find((type) => type.endsWith('_udm2'))
  const acquired = `<acquisitionDateTime>${item.properties.acquired}</acquisitionDateTime>`
  return [
    file(`${id}_${name}_clip_file_format.tif`, image, 'image/tiff', imageType),
    ...(mask ? [file(`${id}_${mask.replace('ortho_', '')}_clip_file_format.tif`, await udm2Of(scene), 'image/tiff', mask)] : []),
    ...(xml ? [file(`${id}_3B_AnalyticMS_metadata_clip.xml`, `<EarthObservation>${acquired}</EarthObservation>`, 'text/xml', xml)] : []),
    file(`${id}_metadata.json`, JSON.stringify(item), 'application/json'),
  ]
}

/** What the vendor says about its files, and how it may be wrong. */
export interface ManifestFaults {
  /** Added to the stated size of images. */
  readonly extraBytes: number
  /** Whether stated checksums are of other files. */
  readonly hasWrongDigests: boolean
  /** Whether files are said to be of another scene. */
  readonly hasStrayScene: boolean
}

export function manifestOf(files: readonly OrderFile[], { extraBytes, hasWrongDigests, hasStrayScene }: ManifestFaults): Buffer {
  const digest = (name: string, bytes: Buffer) =>
    createHash(name)
      .update(hasWrongDigests ? 'another file' : bytes)
      .digest('hex')
  const entries = files.map(({ path, bytes, mediaType, annotations }) => ({
    path,
    media_type: mediaType,
    size: bytes.length + (mediaType === 'image/tiff' ? extraBytes : 0),
    digests: { md5: digest('md5', bytes), sha256: digest('sha256', bytes) },
    annotations: hasStrayScene ? { ...annotations, 'planet/item_id': 'planet_of_somebody_else' } : annotations,
  }))
  return Buffer.from(JSON.stringify({ name: '', files: entries }))
}
