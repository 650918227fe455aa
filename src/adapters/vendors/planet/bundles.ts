/** Planet sells product bundles: sets of assets. The registry names the bundle of a product; here is what we know of its assets. */
import type { DeliveredFile } from '#ports/vendors/shop.ts'
import type { Product } from '#ports/vendors/source.ts'

type Bands = DeliveredFile['bands']

const band = (name: string, role: string | null = name.toUpperCase()) => ({ name, role })
const BGRN: Bands = [band('blue'), band('green'), band('red'), band('nir')]
const RGB: Bands = [band('red'), band('green'), band('blue')]
const EIGHT: Bands = [
  band('coastal'),
  band('blue'),
  band('green_i', null),
  band('green'),
  band('yellow'),
  band('red'),
  band('rededge1'),
  band('nir'),
]

/** The image of each bundle, by item type. A bundle that is not listed is offered for every scene of its item type. */
const IMAGES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  analytic_8b_sr_udm2: { PSScene: 'ortho_analytic_8b_sr' },
  analytic_sr_udm2: { PSScene: 'ortho_analytic_4b_sr', SkySatCollect: 'ortho_analytic_sr', SkySatScene: 'ortho_analytic_sr' },
  pansharpened_udm2: { SkySatCollect: 'ortho_pansharpened', SkySatScene: 'ortho_pansharpened' },
  visual: { PSScene: 'ortho_visual', SkySatCollect: 'ortho_visual', SkySatScene: 'ortho_visual' },
}

const UDM2: Bands = ['clear', 'snow', 'shadow', 'light_haze', 'heavy_haze', 'cloud', 'confidence', 'unusable'].map((name) =>
  band(name, null),
)

const BANDS: Readonly<Record<string, Bands>> = {
  ortho_analytic_8b_sr: EIGHT,
  ortho_analytic_4b_sr: BGRN,
  ortho_analytic_sr: BGRN,
  ortho_pansharpened: BGRN,
  ortho_visual: RGB,
  ortho_udm2: UDM2,
  ortho_analytic_udm2: UDM2,
  ortho_pansharpened_udm2: UDM2,
}

/** Empty: as the file says. */
export const bandsOf = (assetType: string | null): Bands => (assetType !== null && Object.hasOwn(BANDS, assetType) ? BANDS[assetType]! : [])

interface Offered {
  readonly properties: { readonly item_type: string }
  readonly assets?: readonly string[]
  readonly _permissions?: readonly string[]
}

/** Whether a scene can be ordered as a product: its image exists, and the account can download it. */
export function isOfferedAs({ type, collection, vendorProduct }: Product, item: Offered): boolean {
  const { item_type: itemType } = item.properties
  if (type !== 'ARCHIVE' || collection !== itemType || vendorProduct === null) return false
  const image = IMAGES[vendorProduct]?.[itemType]
  return image === undefined || (item.assets?.includes(image) === true && item._permissions?.includes(`assets.${image}:download`) === true)
}
