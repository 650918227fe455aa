/** The files of an order, as its manifest describes them. */
import { acquiredAt, cloudCoverOf, propertiesOf } from './catalog.ts'
import { bandsOf } from './bundles.ts'
import type { DeliveredFile } from '#ports/vendors/shop.ts'
import type { Item, Manifest } from './wire.ts'

type ManifestFile = Manifest['files'][number]

/** A file of one scene, before it has its place in an item. */
interface SceneFile {
  readonly file: ManifestFile
  readonly itemId: string
  readonly assetType: string | null
  readonly role: DeliveredFile['role']
}

/** Files that belong to no scene, such as the manifest itself, are left out. `folder` is the order that has them. */
export function filesOf(
  folder: string,
  { files }: Manifest,
  itemIds: readonly string[],
  items: ReadonlyMap<string, Item>,
): DeliveredFile[] {
  const ofScenes = files.flatMap((file) => sceneFile(file, itemIds) ?? [])
  return [...Map.groupBy(ofScenes, ({ itemId }) => itemId).values()].flatMap((ofItem) => {
    const keys = assetKeys(ofItem)
    return ofItem.map((each, index) => ({ ...toFile(each, keys[index]!, items.get(each.itemId)), id: `${folder}/${each.file.path}` }))
  })
}

function sceneFile(file: ManifestFile, itemIds: readonly string[]): SceneFile | null {
  const annotation = (name: string): string | null => {
    const value = file.annotations?.[`planet/${name}`]
    return typeof value === 'string' && value !== '' ? value : null
  }
  const name = nameOf(file)
  // An ID can be the beginning of another one.
  const named = itemIds.filter((id) => name.startsWith(`${id}_`)).toSorted((a, b) => b.length - a.length)
  const itemId = annotation('item_id') ?? named[0] ?? null
  const assetType = annotation('asset_type')
  return itemId === null ? null : { file, itemId, assetType, role: roleOf(name, assetType) }
}

const nameOf = ({ path }: ManifestFile): string => path.slice(path.lastIndexOf('/') + 1)

const RASTER = /\.tiff?$/i
const PICTURE = /\.(png|jpe?g|webp)$/i
/** Unusable data masks. */
const MASK_TYPE = /(^|_)udm2?$/
const MASK_NAME = /_udm2?[_.]/i

function roleOf(name: string, assetType: string | null): DeliveredFile['role'] {
  if (PICTURE.test(name)) return 'overview'
  if (!RASTER.test(name)) return 'metadata'
  const isMask = assetType === null ? MASK_NAME.test(name) : MASK_TYPE.test(assetType)
  return isMask ? 'mask' : 'data'
}

/** Short keys where they are unique in the item, otherwise Planet's own names for the assets. */
function assetKeys(files: readonly SceneFile[]): string[] {
  const short = files.map(shortKey)
  const isUnique = (keys: readonly string[], key: string) => keys.indexOf(key) === keys.lastIndexOf(key)
  const longer = short.map((key, index) => (isUnique(short, key) ? key : (files[index]!.assetType ?? key)))
  return longer.map((key, index) => (isUnique(longer, key) ? key : `${key}-${index}`))
}

function shortKey({ file, role, assetType }: SceneFile): string {
  const name = nameOf(file)
  if (role === 'data') return 'data'
  if (role === 'mask') return /udm2/i.test(assetType ?? name) ? 'udm2' : 'udm'
  if (role === 'overview') return 'overview'
  return /\.json$/i.test(name) ? 'metadata' : (assetType ?? `metadata-${/\.(\w{1,10})$/.exec(name)?.[1]?.toLowerCase() ?? 'file'}`)
}

const TYPES: Readonly<Record<string, string>> = { json: 'application/json', xml: 'text/xml', tif: 'image/tiff' }

function toFile({ file, itemId, assetType, role }: SceneFile, assetKey: string, item: Item | undefined): Omit<DeliveredFile, 'id'> {
  const { media_type, size, digests } = file
  const fileName = nameOf(file)
  return {
    fileName,
    sceneId: itemId,
    itemKey: itemId,
    assetKey,
    role,
    mediaType: media_type ?? TYPES[/\.(\w+)$/.exec(fileName)?.[1] ?? ''] ?? 'application/octet-stream',
    bytes: size,
    sha256: digests?.sha256?.toLowerCase() ?? null,
    md5: digests?.md5?.toLowerCase() ?? null,
    datetime: item ? acquiredAt(item) : null,
    cloudCover: item ? cloudCoverOf(item) : null,
    bands: bandsOf(assetType),
    properties: item ? propertiesOf(item) : {},
  }
}
