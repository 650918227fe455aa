/** Open scenes: finding one at its host, and describing it as an item with its licence, attribution and origin. */
import { newId } from '#core/ids.ts'
import { invalidField, notFound, problem } from '#core/problem.ts'
import type { NewItem } from '#model/imagery/item-write.ts'
import { fromFeature } from '#model/imagery/stac-import.ts'
import type { Context } from '#operation.ts'
import { RasterError, type RasterErrorCode } from '#raster/errors.ts'
import { isOfFile } from '#raster/stack/band.ts'
import type { RasterService } from '#ports/raster.ts'
import type { Scene, SceneAsset } from '#ports/vendors/catalog.ts'
import type { Source, SourceCollection } from '#ports/vendors/source.ts'
import type { Vendors } from '#ports/vendors/vendors.ts'
import { isOpenlyLicensed, termsOf, termsProperties } from './terms.ts'

/** Of one scene; Sentinel-2 has 16. */
export const MAX_FILES = 32

export interface OpenScene {
  readonly source: Source
  readonly collection: SourceCollection
  readonly scene: Scene
  /** Asset keys of the files with pixels that can be read, in the order of the collection's bands. */
  readonly files: readonly string[]
}

interface SceneRequest {
  readonly hostName: string
  readonly id: string
  /** Asset keys; all files of the collection by default. */
  readonly assets?: readonly string[] | null | undefined
}

/** 404 for an unknown host or scene, 400 for one that is for sale or not openly licensed, 422 for one without files that can be read. */
export async function requireOpenScene(
  { vendors, raster, signal }: Pick<Context, 'vendors' | 'raster' | 'signal'>,
  { hostName, id, assets }: SceneRequest,
): Promise<OpenScene> {
  const source = requireOpenSource(vendors, hostName)
  const scene = await vendors.catalog(hostName).scene(id, { signal })
  if (!scene) throw notFound('scene')
  return openScene({ source, scene, raster, assets })
}

/** The same for a scene that a search has found. */
export function openScene({
  source,
  scene,
  raster,
  assets,
}: {
  source: Source
  scene: Scene
  raster: Pick<RasterService, 'canRead'>
  assets?: readonly string[] | null | undefined
}): OpenScene {
  if (scene.productId !== null) throw forSale(source)
  if (!isOpenlyLicensed(source, scene))
    throw problem('bad-request', `This scene of ${source.title} is not openly licensed, so it cannot be saved`)
  const collection = source.collections.find(({ id }) => id === scene.collection)
  const readable = collection?.renderStrategy === 'cog' ? readableFiles(collection, scene, raster) : []
  if (!collection || readable.length === 0) throw invalidField('id', 'has no file that can be read here; only its preview can be shown')
  const unknown = assets?.find((key) => !readable.includes(key))
  if (unknown !== undefined)
    throw invalidField('assets', `'${unknown}' is not a readable raster of this scene; available: ${readable.join(', ')}`)
  const files = assets ? readable.filter((key) => assets.includes(key)) : readable
  if (files.length > MAX_FILES)
    throw invalidField('assets', `at most ${MAX_FILES} files of a scene can be saved; this one has ${files.length}`)
  return { source, collection, scene, files }
}

export function requireOpenSource(vendors: Vendors, hostName: string): Source {
  const source = vendors.source(hostName)
  if (!source) {
    const known = vendors.sources.map((registered) => registered.hostName)
    throw problem('not-found', `Unknown host '${hostName.slice(0, 100)}'. Known hosts: ${known.join(', ') || 'none'}`, {
      members: { known_hosts: known },
    })
  }
  if (source.accessModel !== 'open') throw forSale(source)
  return source
}

const forSale = ({ title }: Source) =>
  problem('bad-request', `Scenes of ${title} are for sale. Order this one with orders.archive.place; its price is in catalog.item.get.`)

const assetOf = ({ assets }: Scene, key: string): SceneAsset | null => (Object.hasOwn(assets, key) ? assets[key]! : null)

function readableFiles({ assets, visual }: SourceCollection, scene: Scene, raster: Pick<RasterService, 'canRead'>): string[] {
  const keys = [...new Set([...assets, ...(visual === null ? [] : [visual])])]
  return keys.filter((key) => {
    const asset = assetOf(scene, key)
    return asset !== null && raster.canRead(asset.href)
  })
}

/** Opens every file, so that every saved item can be shown. The error names what cannot be read, and what can be saved instead. */
export async function requireReadable(
  { raster, signal }: Pick<Context, 'raster' | 'signal'>,
  { scene, files }: Pick<OpenScene, 'scene' | 'files'>,
): Promise<void> {
  const opened = await raster.describeMany(
    files.map((key) => ({ url: scene.assets[key]!.href })),
    signal,
  )
  const unreadable = opened.flatMap((result, index) => ('failure' in result ? [{ key: files[index]!, failure: result.failure }] : []))
  const [first] = unreadable
  if (!first) return
  if (!isOfFile(first.failure.code)) throw new RasterError(first.failure.code, first.failure.message)
  const readable = files.filter((key) => !unreadable.some((each) => each.key === key))
  const others =
    unreadable.length === 1
      ? ''
      : ` Nor can ${unreadable
          .slice(1)
          .map(({ key }) => `'${key}'`)
          .join(', ')}.`
  const advice =
    readable.length === 0
      ? 'Try again later, or choose another scene.'
      : `Save the scene without ${unreadable.length === 1 ? 'it' : 'them'} (assets: ${readable.join(', ')}), or try again later.`
  const slug = unreadable.every(({ failure }) => TRANSIENT.includes(failure.code)) ? 'bad-gateway' : 'unreadable-raster'
  throw problem(slug, `The asset '${first.key}' cannot be read: ${first.failure.message}.${others} ${advice}`, {
    members: { unreadable_assets: unreadable.map(({ key }) => key), readable_assets: readable },
  })
}

const TRANSIENT: readonly RasterErrorCode[] = ['source_unavailable', 'source_changed']

/** Properties that say where an item comes from and how it can be used. */
function originOf({ source, scene }: Pick<OpenScene, 'source' | 'scene'>, { providers }: Pick<Vendors, 'providers'>) {
  const { providers: stated } = scene.properties
  const host = providers.find(({ name }) => name === source.provider)
  return {
    ...termsProperties(termsOf(source, scene)),
    providers: Array.isArray(stated) && stated.length > 0 ? stated : host ? [providerOf(host)] : [],
    simulated: source.simulated,
    'svc:scene_host': source.hostName,
    'svc:scene_collection': scene.collection,
    'svc:scene_id': scene.id,
    ...(scene.url === null ? {} : { 'svc:scene_url': scene.url }),
  }
}

const providerOf = ({ title, roles, url }: Vendors['providers'][number]) => ({
  name: title,
  roles: roles.map((role) => role.toLowerCase()),
  ...(url === null ? {} : { url }),
})

const IMAGE = /^image\/(png|jpeg|webp)\b/
const MAX_OTHER_ASSETS = 8

/** An item that refers to the host's files, and to the scene's previews. Its ID is new: other projects can save the same scene. */
export function referenceTo(
  open: OpenScene,
  { collectionId, vendors, raster }: { collectionId: string | null; vendors: Vendors; raster: Pick<RasterService, 'canRead'> },
): NewItem {
  const { scene, files, collection } = open
  const previews = Object.entries(scene.assets)
    .filter(([, { type, href }]) => IMAGE.test(type ?? '') && (href.startsWith('https:') || raster.canRead(href)))
    .slice(0, MAX_OTHER_ASSETS)
    .map(([key]) => key)
  const item = fromFeature(
    {
      type: 'Feature',
      id: scene.id,
      geometry: scene.geometry,
      ...(scene.bbox ? { bbox: scene.bbox } : {}),
      properties: {
        ...(collection.gsdM === null ? {} : { gsd: collection.gsdM }), // Unless the scene states its own.
        ...scene.properties,
        datetime: scene.datetime,
        ...originOf(open, vendors),
      },
      assets: Object.fromEntries([...files, ...previews].map((key) => [key, statedAsset(scene.assets[key]!)])),
    },
    collectionId,
    raster,
  )
  return { ...item, id: newId(), type: 'external_reference' }
}

const statedAsset = ({ href, type, title, roles, fields }: SceneAsset) => ({
  ...fields,
  href,
  ...(type === null ? {} : { type }),
  ...(title === null ? {} : { title }),
  roles,
})
